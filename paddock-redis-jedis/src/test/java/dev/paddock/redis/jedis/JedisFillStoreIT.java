/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite, each store with a client of its own. */
final class JedisFillStoreIT extends FillStoreTck {
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
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        server,
        environment -> JedisRedis.connect(server.uri()).open(environment, Transports.OPTIONS));
  }
}
