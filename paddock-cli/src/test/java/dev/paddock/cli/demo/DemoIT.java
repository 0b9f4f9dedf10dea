/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.paddock.cli.process.Json;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar as it is shipped, with processes and a Redis of its own. */
final class DemoIT {
  /** A lease that a machine which is busy with other things can keep. */
  private static final List<String> LONG_LEASE = List.of("--load-time=1500ms", "--lease=1s");

  private static final Settings SETTINGS =
      new Settings(2, 5, 300, 200, 1, null, Topology.STANDALONE);
  private static final Duration LIMIT = DemoJar.LIMIT;

  @TempDir private Path folder;

  private Process start(String... options) throws IOException {
    return new DemoJar(folder, LONG_LEASE).start(options);
  }

  private DemoJar.Run run(String... options) throws IOException, InterruptedException {
    return new DemoJar(folder, LONG_LEASE).run(options);
  }

  @Test
  void demo_json_printsOneObjectAndNothingElse() throws Exception {
    DemoJar.Run run =
        run("--only=unprotected,plain-del,token-release", "--load-time=200ms", "--json");

    assertThat(run.exitCode()).describedAs(run.err() + run.out()).isZero();
    assertThat(run.out().strip()).doesNotContain("\n");
    JsonReport report = run.json();
    assertThat(report.met()).isTrue();
    assertThat(report.experiments())
        .extracting(Row::name)
        .containsExactly("unprotected", "plain-del", "token-release");
    assertThat(report.experiments())
        .allSatisfy(
            row -> {
              assertThat(row.processes()).isEqualTo(2);
              assertThat(row.callers()).isEqualTo(10);
              assertThat(row.met()).isTrue();
              assertThat(row.redisCommands()).isPositive();
            });
    assertThat(report.experiments().get(0).loads()).isBetween(8, 10);
    assertThat(report.experiments().get(1).loads())
        .isGreaterThan(report.experiments().get(2).loads());
    assertThat(run.err()).contains("[1/3] unprotected");
  }

  @Test
  void demo_holderKilledOrStopped_comesOutAsExpected() throws Exception {
    DemoJar.Run run = run("--only=paddock-wait,paddock-killed,paddock-paused", "--json");

    assertThat(run.exitCode()).describedAs(run.err() + run.out()).isZero();
    assertThat(run.json().experiments()).extracting(Row::met).containsExactly(true, true, true);
  }

  @Test
  void demo_redisOfSomebodyElse_leavesItsKeysAndNoneOfItsOwn() throws Exception {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      server.console().text("CONFIG", "SET", "requirepass", "geheim");
      String uri = server.uri().replace("redis://", "redis://:geheim@");
      RedisClient client = RedisClient.create(uri);
      try (StatefulRedisConnection<String, String> connection = client.connect()) {
        connection.sync().set("theirs", "1");
        DemoJar.Run run =
            run("--only=check-then-set,paddock-stale,paddock-invalidated", "--redis=" + uri);

        assertThat(run.exitCode()).describedAs(run.err() + run.out()).isZero();
        assertThat(run.out()).contains("paddock-stale", "All 3 came out as expected.");
        assertThat(run.out() + run.err()).doesNotContain("geheim");
        assertThat(connection.sync().keys("*")).containsExactly("theirs");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void demo_redisCannotBeUsed_saysWhyWithoutThePassword() throws Exception {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      server.console().text("CONFIG", "SET", "requirepass", "geheim");
      String address = "127.0.0.1:" + server.port();
      Map<String, String> reasons =
          Map.of(
              "redis://127.0.0.1:1",
              "the connection was refused",
              "redis://" + address,
              "it wants a password",
              "redis://:falsch@" + address,
              "it refuses the user or the password",
              "redis://:geheim@" + address + "/99",
              "it has no database 99");
      for (Map.Entry<String, String> each : reasons.entrySet()) {
        DemoJar.Run run = run("--redis=" + each.getKey());

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.err())
            .startsWith("Redis can't be used: ")
            .contains(each.getValue())
            .doesNotContain("geheim", "falsch", "\tat ");
      }
    }
  }

  @Test
  void demo_expectationIsBroken_endsWithOne() throws Exception {
    Experiment wrong =
        new OneQuestion(
            "unprotected",
            Strategy.UNPROTECTED,
            "as ever",
            settings -> "1 load",
            (settings, loads, stale, result) ->
                new Verdict(loads.size() == 1, loads.size() + " loads"));
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    int exitCode =
        DemoCommand.run(
            SETTINGS, List.of(wrong), LIMIT, true, new PrintStream(out, true, UTF_8), System.err);

    assertThat(exitCode).isEqualTo(1);
    JsonReport report = Json.read(out.toString(UTF_8), JsonReport.class);
    assertThat(report.met()).isFalse();
    assertThat(report.experiments().get(0).met()).isFalse();
    assertThat(report.experiments().get(0).observed()).endsWith(" loads");
  }

  @Test
  void demo_experimentHangs_isGivenUpAsNotMetAndTheNextOneRuns() throws Exception {
    Experiment hanging = new HeldForEver(Catalogue.all().get(0));
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    int exitCode =
        DemoCommand.run(
            SETTINGS,
            List.of(hanging, Catalogue.all().get(2)),
            Duration.ofSeconds(20),
            true,
            new PrintStream(out, true, UTF_8),
            System.err);

    assertThat(exitCode).isEqualTo(1);
    List<Row> rows = Json.read(out.toString(UTF_8), JsonReport.class).experiments();
    assertThat(rows).extracting(Row::met).containsExactly(false, true);
    assertThat(rows.get(0).observed())
        .startsWith("unprotected was given up after 20 s: still no answer for each caller");
  }

  /** Loads begin, and nobody lets them go. */
  private record HeldForEver(Experiment like) implements Experiment {
    @Override
    public String name() {
      return like.name();
    }

    @Override
    public String summary() {
      return like.summary();
    }

    @Override
    public String expected(Settings settings) {
      return like.expected(settings);
    }

    @Override
    public Set<Strategy> strategies() {
      return like.strategies();
    }

    @Override
    public Finding run(Stage stage) throws InterruptedException {
      stage.loadsAreHeld();
      stage.askOnce(Strategy.UNPROTECTED, stage.cell(name())).await();
      return Finding.none("unreachable");
    }
  }

  @Test
  void demo_coordinatorIsKilled_noProcessIsLeft() throws Exception {
    Process process = start("--repeat=100");
    assertThat(endedWith(process, process::destroyForcibly)).isNotEmpty();
  }

  @Test
  void demo_coordinatorIsTerminated_noProcessIsLeft() throws Exception {
    Process process = start("--repeat=100");
    assertThat(endedWith(process, process::destroy)).isNotEmpty();
    assertNothingButProgress();
  }

  @Test
  void demo_redisAndWorkersGoFirstAsByCtrlC_endsWithoutAWord() throws Exception {
    Process process = start("--repeat=100");
    Runnable end =
        () -> {
          List<ProcessHandle> descendants = process.descendants().toList();
          descendants.forEach(ProcessHandle::destroyForcibly);
          descendants.forEach(each -> each.onExit().join());
          process.destroy();
        };
    assertThat(endedWith(process, end)).isNotEmpty();
    assertNothingButProgress();
  }

  private void assertNothingButProgress() throws IOException {
    assertThat(Files.readAllLines(folder.resolve("err"), UTF_8))
        .isNotEmpty()
        .allMatch(
            line ->
                line.matches(
                    "Starting (Redis|2 processes)\\.|\\[1/15] unprotected \\([^)]*\\) \\.*"));
    assertThat(folder.resolve("out")).isEmptyFile();
  }

  private List<ProcessHandle> endedWith(Process process, Runnable end) {
    // Two workers and Redis, with an experiment under way.
    await()
        .atMost(LIMIT)
        .until(
            () ->
                process.descendants().count() >= 3
                    && Files.readString(folder.resolve("err"), UTF_8).contains("[1/15]"));
    List<ProcessHandle> descendants = process.descendants().toList();
    end.run();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> {
              assertThat(descendants).noneMatch(ProcessHandle::isAlive);
              assertThat(process.isAlive()).isFalse();
            });
    return descendants;
  }
}
