/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.PrimaryWithReplicas;
import dev.paddock.testkit.RedisServerHarness;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite, on a primary with replicas. */
final class LettuceReplicatedFillStoreIT extends FillStoreTck {
  private static PrimaryWithReplicas group;

  @BeforeAll
  static void start() {
    group = PrimaryWithReplicas.start(2);
  }

  @AfterAll
  static void stop() {
    group.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        group.primary(),
        environment ->
            LettuceRedis.connect(group.primary().uri()).open(environment, Transports.OPTIONS));
  }
}
