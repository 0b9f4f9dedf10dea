/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.testkit.LeaseStoreHarness;
import dev.paddock.testkit.LeaseStoreTck;
import dev.paddock.testkit.RealTimeLeaseHarness;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases, each store with a client of its own. */
final class JedisLeaseStoreIT extends LeaseStoreTck {
  private static RedisServerProcess server;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment ->
            JedisRedis.connect(server.uri()).leases().open(environment, Transports.OPTIONS));
  }
}
