/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.SentinelGroup;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite, on a primary that Sentinels name. */
final class JedisSentinelFillStoreIT extends FillStoreTck {
  private static SentinelGroup group;

  @BeforeAll
  static void start() {
    // The suite pauses the server, which is no reason to replace it.
    group = SentinelGroup.start(Duration.ofMinutes(1));
  }

  @AfterAll
  static void stop() {
    group.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        group.primary(),
        environment -> JedisRedis.connect(group.uri()).open(environment, Transports.OPTIONS));
  }
}
