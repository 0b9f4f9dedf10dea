/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases on a real server. */
final class RedisLeaseStoreIT extends LeaseStoreTck {
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static RedisServerProcess server;

  @BeforeAll
  static void startServer() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment ->
            RedisLeaseStore.open(new SocketRedisTransport(server.port()), environment, OPTIONS));
  }
}
