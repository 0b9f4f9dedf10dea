/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisConsole;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
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
    server.console().command("ACL", "SETUSER", "cache", "&*");
    return new Harness(
        new RedisServerHarness(
            server,
            environment -> LettuceRedis.connect(uri).open(environment, Transports.OPTIONS)));
  }

  /** Where the suite takes rights from the user of the stores, that is another one here. */
  private record Harness(FillStoreHarness real) implements FillStoreHarness {
    @Override
    public Environment environment() {
      return real.environment();
    }

    @Override
    public FillStore open(Environment clientEnvironment) {
      return real.open(clientEnvironment);
    }

    @Override
    public RedisConsole console() {
      return words -> {
        Object[] mine = words.clone();
        if (words[0].equals("ACL")) {
          Arrays.asList(mine).replaceAll(word -> word.equals("default") ? "cache" : word);
        }
        return real.console().command(mine);
      };
    }

    @Override
    public void passTime(Duration atLeast) {
      real.passTime(atLeast);
    }

    @Override
    public <T extends @Nullable Object> T await(CompletionStage<T> stage) {
      return real.await(stage);
    }

    @Override
    public void awaitUntil(String what, BooleanSupplier condition) {
      real.awaitUntil(what, condition);
    }

    @Override
    public void close() {
      real.close();
    }
  }
}
