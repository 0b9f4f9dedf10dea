/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The conformance suite, as a user who may do nothing but what Paddock needs: with the commands of
 * the docs, and all keys and channels, since the suite is about keys of any bytes.
 */
final class LettuceLeastRightsFillStoreIT extends FillStoreTck {
  private static RedisServerProcess server;
  private static String uri;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    uri =
        LeastRights.grant(
            server,
            "cache",
            LeastRights.line("cache")
                .replace(LeastRights.KEYS, "~*")
                .replace(LeastRights.CHANNELS, "&*"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        server, environment -> LettuceRedis.connect(uri).open(environment, Transports.OPTIONS));
  }
}
