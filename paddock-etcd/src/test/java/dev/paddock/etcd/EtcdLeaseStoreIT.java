/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.LeaseStoreHarness;
import dev.paddock.testkit.LeaseStoreTck;
import dev.paddock.testkit.RealTimeLeaseHarness;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases on a real etcd. */
final class EtcdLeaseStoreIT extends LeaseStoreTck {
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));

  private static @Nullable EtcdCluster cluster;

  @BeforeAll
  static void startServer() {
    cluster = EtcdCluster.start(1);
  }

  @AfterAll
  static void stopServer() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    EtcdCluster started = java.util.Objects.requireNonNull(cluster);
    return new RealTimeLeaseHarness(
        Duration.ofSeconds(1),
        environment -> EtcdLeases.connect(started.uri()).open(environment, OPTIONS));
  }
}
