/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static org.awaitility.Awaitility.await;

import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What the tests on real servers share. */
final class Transports {
  static final Duration LIMIT = Duration.ofSeconds(30);

  /** Time-outs that a slow machine does not reach. */
  static final StoreOptions OPTIONS = new StoreOptions(LIMIT, LIMIT);

  /** For tests in which the command time-out has to pass. */
  static final StoreOptions IMPATIENT = new StoreOptions(LIMIT, Duration.ofSeconds(1));

  private Transports() {}

  static JedisTransport open(StoreFactory factory, Environment environment, StoreOptions options) {
    return ((JedisStore) factory).transport(environment, options);
  }

  static JedisTransport open(StoreFactory factory, Environment environment) {
    return open(factory, environment, OPTIONS);
  }

  static JedisTransport open(String uri, Environment environment) {
    return open(JedisRedis.connect(uri), environment);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static @Nullable String text(byte @Nullable [] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  static <T> T get(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  static Throwable failure(CompletionStage<?> stage) throws Exception {
    CompletableFuture<Throwable> failed = new CompletableFuture<>();
    stage.whenComplete(
        (value, thrown) ->
            failed.complete(thrown == null ? new AssertionError("it did not fail") : thrown));
    return get(failed);
  }

  static void until(Callable<Boolean> condition) {
    await().atMost(LIMIT).pollInterval(Duration.ofMillis(10)).until(condition);
  }
}
