/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.LeaseStoreHarness;
import dev.paddock.testkit.LeaseStoreTck;
import dev.paddock.testkit.RealTimeLeaseHarness;
import dev.paddock.testkit.RedisClusterProcess;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite of leases on a real cluster: each lease on the shard of its bucket. */
final class ClusterLeaseStoreIT extends LeaseStoreTck {
  private static RedisClusterProcess cluster;

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Override
  protected LeaseStoreHarness newHarness() {
    return new RealTimeLeaseHarness(
        Duration.ofMillis(300),
        environment -> LettuceRedis.leases(cluster.uri()).open(environment, Transports.OPTIONS));
  }
}
