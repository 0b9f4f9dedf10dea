/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.LeaseStoreHarness;
import dev.paddock.testkit.LeaseStoreTck;
import dev.paddock.testkit.RealTimeLeaseHarness;
import java.time.Duration;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases on a real ZooKeeper. */
final class ZooKeeperLeaseStoreIT extends LeaseStoreTck {
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static @Nullable TestingServer server;

  @BeforeAll
  static void startServer() throws Exception {
    server = new TestingServer();
  }

  @AfterAll
  static void stopServer() throws Exception {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    TestingServer started = java.util.Objects.requireNonNull(server);
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment ->
            ZooKeeperLeases.connect("zookeeper://" + started.getConnectString() + "/tck")
                .open(environment, OPTIONS));
  }
}
