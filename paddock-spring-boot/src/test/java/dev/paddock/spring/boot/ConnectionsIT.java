/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SelfSignedCertificate;
import dev.paddock.testkit.SentinelGroup;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** How Spring Boot's own properties lead Paddock to its servers. */
final class ConnectionsIT {
  private static void works(AssertableApplicationContext context) {
    assertThat(context).hasNotFailed();
    Cache cache = requireNonNull(context.getBean(CacheManager.class).getCache("posts"));
    assertThat(cache.<String>get("k", () -> "loaded")).isEqualTo("loaded");
    assertThat(cache.get("k", String.class)).isEqualTo("loaded");
    try (var lease =
        context.getBean(LeaseLock.class).tryAcquire("job", LeaseOptions.defaults()).orElseThrow()) {
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void credentials_databaseAndClientName_areThoseOfTheApplication() {
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      redis.console().command("ACL", "SETUSER", "app", "on", ">p@ss word", "~*", "&*", "+@all");
      Contexts.runner(redis.port())
          .withPropertyValues(
              "spring.data.redis.username=app",
              "spring.data.redis.password=p@ss word",
              "spring.data.redis.database=3",
              "spring.data.redis.client-name=shop")
          .run(
              context -> {
                works(context);
                assertThat(redis.console().text("CLIENT", "LIST").lines())
                    .anyMatch(line -> line.matches(".* name=shop .* db=3 .*user=app.*"));
                redis.console().command("SELECT", "3");
                assertThat(redis.console().command("EXISTS", "posts:k")).isEqualTo(1L);
              });
    }
  }

  @Test
  void resources_ofTheApplication_areUsedAndClosingLeavesNoConnection() {
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      String before = redis.console().text("CLIENT", "LIST");
      Contexts.runner(redis.port())
          .run(
              context -> {
                works(context);
                assertThat(context).hasSingleBean(ClientResources.class);
                assertThat(
                        context
                            .getBean(LettuceConnectionFactory.class)
                            .getClientConfiguration()
                            .getClientResources())
                    .contains(context.getBean(ClientResources.class));
              });
      assertThat(redis.console().text("CLIENT", "LIST").lines())
          .hasSameSizeAs(before.lines().toList());
    }
  }

  @Test
  void sentinels_areAskedForThePrimary() {
    try (SentinelGroup group = SentinelGroup.start()) {
      Contexts.runner()
          .withPropertyValues(
              "spring.data.redis.sentinel.master=" + SentinelGroup.NAME,
              "spring.data.redis.sentinel.nodes=" + group.addresses())
          .run(
              context -> {
                works(context);
                assertThat(group.primary().console().command("EXISTS", "posts:k")).isEqualTo(1L);
              });
    }
  }

  @Test
  void cluster_isUsedByItsNodes() {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      String nodes =
          cluster.nodes().stream()
              .map(node -> "127.0.0.1:" + node.port())
              .collect(Collectors.joining(","));
      Contexts.runner()
          .withPropertyValues("spring.data.redis.cluster.nodes=" + nodes)
          .run(ConnectionsIT::works);
    }
  }

  @Test
  void sslBundle_ofTheApplication_isTrusted(@TempDir Path folder) throws IOException {
    Path program;
    try {
      program = RedisServerProcess.installed();
    } catch (IllegalStateException e) {
      abort("no redis-server is installed, and the bundled one has no TLS");
      return;
    }
    SelfSignedCertificate certificate = SelfSignedCertificate.in(folder);
    int port;
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = probe.getLocalPort();
    }
    try (RedisServerProcess redis =
        RedisServerProcess.start(
            program,
            "--tls-port",
            Integer.toString(port),
            "--tls-cert-file",
            certificate.certificate().toString(),
            "--tls-key-file",
            certificate.key().toString(),
            "--tls-auth-clients",
            "no")) {
      assertThat(redis.isRunning()).isTrue();
      Contexts.runner(port)
          .withConfiguration(
              AutoConfigurations.of(
                  ClassUtils.resolveClassName(
                      "org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration", null)))
          .withPropertyValues(
              "spring.ssl.bundle.pem.redis.truststore.certificate=file:"
                  + certificate.certificate(),
              "spring.data.redis.ssl.bundle=redis")
          .run(ConnectionsIT::works);
    }
  }

  @Test
  void staticListOfPrimaryAndReplicas_isRefusedWithAdvice() {
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      Contexts.runner(redis.port())
          .withBean(
              RedisConnectionFactory.class,
              () ->
                  new LettuceConnectionFactory(
                      new RedisStaticMasterReplicaConfiguration("127.0.0.1", redis.port())))
          .run(
              context ->
                  assertThat(context.getStartupFailure())
                      .hasStackTraceContaining("static list")
                      .hasStackTraceContaining("dev.paddock.spi.StoreFactory"));
    }
  }

  @Test
  void redis_thatIsNotThere_stopsTheStartInTime() {
    int port;
    try (RedisServerProcess redis = RedisServerProcess.start()) {
      port = redis.port();
    }
    Contexts.runner(port)
        .withPropertyValues("paddock.connect-timeout=2s")
        .run(
            context ->
                assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("dev.paddock.StoreException"));
  }
}
