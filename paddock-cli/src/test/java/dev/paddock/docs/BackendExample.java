/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** How the author of a backend runs the conformance suite. Not run here: its name is no test's. */
final class BackendExample {
  private BackendExample() {}

  private static StoreFactory myStore(String uri) {
    return LettuceRedis.connect(uri);
  }

  static final class MyStoreSuite extends FillStoreTck {
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
    protected FillStoreHarness newHarness() {
      StoreOptions options = new StoreOptions(Duration.ofSeconds(30), Duration.ofSeconds(30));
      return new RedisServerHarness(
          server, environment -> myStore(server.uri()).open(environment, options));
    }
  }
}
