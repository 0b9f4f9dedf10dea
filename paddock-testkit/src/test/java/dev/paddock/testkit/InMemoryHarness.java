/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedisFillStore;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The model and virtual time. */
final class InMemoryHarness implements FillStoreHarness {
  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(10), Duration.ofSeconds(10));

  final VirtualEnvironment environment;
  final InMemoryRedis redis;
  private int clients;

  InMemoryHarness(long seed) {
    this.environment = new VirtualEnvironment(seed);
    this.redis = new InMemoryRedis(environment);
  }

  @Override
  public Environment environment() {
    return environment;
  }

  @Override
  public FillStore open(Environment clientEnvironment) {
    return await(
        RedisFillStore.openAsync(
            redis.connect("client-" + ++clients, clientEnvironment), clientEnvironment, OPTIONS));
  }

  @Override
  public RedisConsole console() {
    return redis;
  }

  @Override
  public void passTime(Duration atLeast) {
    environment.advance(atLeast);
  }

  @Override
  public <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    return environment.await(stage, LIMIT);
  }

  @Override
  public void awaitUntil(String what, BooleanSupplier condition) {
    environment.runUntil(condition, LIMIT);
  }

  @Override
  public void close() {
    redis.close();
  }
}
