/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.LeaseStoreHarness;
import dev.paddock.testkit.LeaseStoreTck;
import dev.paddock.testkit.RealTimeLeaseHarness;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerRelease;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The conformance suite of leases, on the oldest Redis that is supported. */
@Tag("any-jdk")
final class LettuceRedis62LeaseStoreIT extends LeaseStoreTck {
  private static @Nullable RedisServerProcess server;

  @BeforeAll
  static void start() {
    server = ServerRelease.REDIS_6_2.start();
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    RedisServerProcess started = Objects.requireNonNull(server);
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment -> LettuceRedis.leases(started.uri()).open(environment, Transports.OPTIONS));
  }
}
