/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerHarness;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite on a real cluster, each store with a client of its own. */
final class JedisClusterFillStoreIT extends FillStoreTck {
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
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        cluster,
        environment -> JedisRedis.connect(cluster.uri()).open(environment, Transports.OPTIONS));
  }
}
