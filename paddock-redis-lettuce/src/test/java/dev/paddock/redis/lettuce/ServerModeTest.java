/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.testkit.RealTimeEnvironment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server says of itself, in the words of Redis and of Valkey. */
final class ServerModeTest {
  @ParameterizedTest
  @CsvSource({
    "redis_version:7.0.15, redis_mode:standalone, false",
    "redis_version:7.0.15, redis_mode:cluster, true",
    "valkey_version:8.1.1, server_mode:standalone, false",
    "valkey_version:8.1.1, server_mode:cluster, true",
  })
  void mode_ofEitherServer_isRead(String version, String mode, boolean cluster) throws Exception {
    String info = "# Server\r\nredis_version:7.2.4\r\n" + version + "\r\n" + mode + "\r\n";
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    try {
      var about =
          LettuceStoreFactory.about(
              () -> CompletableFuture.completedFuture(info.getBytes(UTF_8)),
              () -> CompletableFuture.completedFuture(List.of()),
              environment,
              environment.nanoTime() + TimeUnit.SECONDS.toNanos(30));
      assertThat(about.cluster()).isEqualTo(cluster);
    } finally {
      environment.close();
    }
  }
}
