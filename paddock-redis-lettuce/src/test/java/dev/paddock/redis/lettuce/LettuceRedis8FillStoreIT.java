/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerRelease;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The conformance suite, on Redis 8. */
@Tag("any-jdk")
final class LettuceRedis8FillStoreIT extends FillStoreTck {
  private static @Nullable RedisServerProcess server;

  @BeforeAll
  static void start() {
    server = ServerRelease.REDIS_8.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected FillStoreHarness newHarness() {
    RedisServerProcess started = java.util.Objects.requireNonNull(server);
    return new RedisServerHarness(
        started,
        environment -> LettuceRedis.connect(started.uri()).open(environment, Transports.OPTIONS));
  }
}
