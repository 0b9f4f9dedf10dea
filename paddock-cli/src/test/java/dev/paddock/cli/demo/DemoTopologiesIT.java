/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.paddock.spi.StoreKey;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SelfSignedCertificate;
import dev.paddock.testkit.SentinelGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The experiments on anything but one server that speaks plainly. */
@Tag("any-jdk")
final class DemoTopologiesIT {
  private static final List<String> TIMES = List.of("--load-time=600ms", "--lease=450ms");

  @TempDir private Path folder;

  private DemoJar demo() {
    return new DemoJar(folder, TIMES);
  }

  private static List<String> ofPaddock(List<Experiment> experiments) {
    return experiments.stream()
        .map(Experiment::name)
        .filter(name -> name.startsWith("paddock-"))
        .toList();
  }

  private static String only(List<String> names) {
    return "--only=" + String.join(",", names);
  }

  private static void assertAllMet(DemoJar.Run run, List<String> names) {
    assertThat(run.exitCode()).describedAs(run.err() + run.out()).isZero();
    assertThat(run.json().experiments())
        .allMatch(Row::met)
        .extracting(Row::name)
        .containsExactlyElementsOf(names);
  }

  @ParameterizedTest
  @EnumSource(names = {"REPLICAS", "SENTINEL", "CLUSTER"})
  void paddock_onServersOfTheDemo_withFaultsInMidLoad_comesOutAsExpected(Topology topology)
      throws Exception {
    List<String> names = ofPaddock(Catalogue.on(topology));
    DemoJar.Run run = demo().run("--topology=" + topology.option(), only(names), "--json");

    assertAllMet(run, names);
    assertThat(run.err()).contains("Starting Redis: " + topology.description());
    assertThat(run.json().experiments())
        .allSatisfy(
            row -> {
              if (topology != Topology.SENTINEL || !row.name().equals("paddock-failover")) {
                assertThat(row.redisCommands()).isPositive();
              }
            });
  }

  @Test
  void demo_sentinelsOfSomebodyElse_leavesTheirServersAlone() throws Exception {
    try (SentinelGroup group = SentinelGroup.start(Duration.ofMinutes(1))) {
      RedisServerProcess primary = group.primary();
      primary.console().text("SET", "theirs", "1");

      assertWorksForSomebodyElse(group.uri(), "a primary that Sentinels name");
      assertThat(primary.console().snapshot().keySet()).containsExactly(StoreKey.of("theirs"));
      assertThat(group.primary()).isSameAs(primary);
    }
  }

  @Test
  void demo_oneNodeOfTheirCluster_findsTheOthersAndLeavesNoKeys() throws Exception {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      cluster.console().text("SET", "theirs", "1");

      assertWorksForSomebodyElse(cluster.nodes().get(0).uri(), "a cluster");
      assertThat(cluster.console().snapshot().keySet()).containsExactly(StoreKey.of("theirs"));
    }
  }

  private void assertWorksForSomebodyElse(String uri, String arrangement) throws Exception {
    List<String> names = List.of("in-process", "paddock-wait", "paddock-invalidated");
    DemoJar.Run run = demo().run("--redis=" + uri, only(names));

    assertThat(run.exitCode()).describedAs(run.err() + run.out()).isZero();
    // The table breaks lines where they end.
    assertThat(run.out().replace('\n', ' '))
        .contains("(" + arrangement + ")", "All 3 came out as expected.");
    assertThat(run.err()).doesNotContain("not counted");
  }

  @Test
  void demo_overTls_comesOutAsExpectedAndCountsCommands() throws Exception {
    SelfSignedCertificate certificate = SelfSignedCertificate.in(folder);
    try (TlsServer server = TlsServer.start(certificate)) {
      DemoJar demo =
          demo()
              .with(
                  "JDK_JAVA_OPTIONS",
                  "-Djavax.net.ssl.trustStore="
                      + certificate.store()
                      + " -Djavax.net.ssl.trustStorePassword="
                      + SelfSignedCertificate.STORE_PASSWORD);
      List<String> names = ofPaddock(Catalogue.on(null));
      DemoJar.Run run =
          demo.run("--redis=rediss://:geheim@127.0.0.1:" + server.port(), only(names), "--json");

      assertAllMet(run, names);
      assertThat(run.json().experiments())
          .allSatisfy(row -> assertThat(row.redisCommands()).isPositive());
      assertThat(run.out() + run.err()).doesNotContain("geheim");
      DemoJar.Run untrusting =
          demo().run("--redis=rediss://:geheim@127.0.0.1:" + server.port(), only(names));
      assertThat(untrusting.exitCode()).isEqualTo(1);
      assertThat(untrusting.err())
          .startsWith("Redis can't be used: ")
          .contains("TLS failed", "trust store")
          .doesNotContain("geheim");
    }
  }

  /**
   * A server that speaks TLS and nothing else to clients, and wants a password.
   *
   * @param process the server
   * @param port where it speaks TLS
   */
  private record TlsServer(RedisServerProcess process, int port) implements AutoCloseable {
    static TlsServer start(SelfSignedCertificate certificate) throws IOException {
      Path program;
      try {
        program = RedisServerProcess.installed();
      } catch (IllegalStateException e) {
        return abort("no redis-server is installed, and the bundled one has no TLS");
      }
      int port;
      try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = probe.getLocalPort();
      }
      try {
        RedisServerProcess process =
            RedisServerProcess.start(
                program,
                "--tls-port",
                Integer.toString(port),
                "--tls-cert-file",
                certificate.certificate().toString(),
                "--tls-key-file",
                certificate.key().toString(),
                "--tls-auth-clients",
                "no");
        process.console().text("CONFIG", "SET", "requirepass", "geheim");
        return new TlsServer(process, port);
      } catch (IllegalStateException e) {
        if (String.valueOf(e.getMessage()).contains("Bad directive")) {
          return abort("the installed redis-server was built without TLS");
        }
        throw e;
      }
    }

    @Override
    public void close() {
      process.close();
    }
  }

  @Test
  void demo_coordinatorIsKilledAfterAFailover_noServerIsLeft() throws Exception {
    Process process = demo().start("--topology=cluster", "--only=paddock-failover", "--repeat=100");
    try {
      // A dot says that the first failover is over, and what was killed runs under another id.
      await()
          .atMost(DemoJar.LIMIT)
          .until(() -> Files.readString(folder.resolve("err"), UTF_8).contains(") ."));
      List<ProcessHandle> descendants = process.descendants().toList();
      process.destroyForcibly();
      await()
          .atMost(DemoJar.LIMIT)
          .until(() -> descendants.stream().noneMatch(each -> each.isAlive()));
      // Two workers and six nodes, of which one may have been killed again.
      assertThat(descendants).hasSizeBetween(7, 8);
    } finally {
      process.destroyForcibly();
    }
  }
}
