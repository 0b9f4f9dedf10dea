/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.RedlockNode;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases on five real servers. */
final class RedlockLeaseStoreIT extends LeaseStoreTck {
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));
  private static final Duration LEASE_TIME_MAX = Duration.ofMinutes(10);
  private static final int SERVERS = 5;

  private static final List<RedisServerProcess> servers = new ArrayList<>();

  @BeforeAll
  static void startServers() {
    for (int i = 0; i < SERVERS; i++) {
      servers.add(RedisServerProcess.start());
    }
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    RedlockLeaseStore.bootstrap(
        nodes(), LEASE_TIME_MAX, RedlockBootstrap.NEW_SERVERS, environment, OPTIONS);
    environment.close();
  }

  @AfterAll
  static void stopServers() {
    servers.forEach(RedisServerProcess::close);
    servers.clear();
  }

  private static List<RedlockNode> nodes() {
    return servers.stream()
        .map(
            server ->
                new RedlockNode(
                    "127.0.0.1:" + server.port(), new SocketRedisTransport(server.port())))
        .toList();
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment -> RedlockLeaseStore.open(nodes(), LEASE_TIME_MAX, environment, OPTIONS));
  }
}
