/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link FillStoreHarness} on a real server, or a real cluster, and real time.
 *
 * <p>Not thread-safe. It neither starts nor ends servers, so that one serves a whole test class,
 * but it empties them and undoes what tests set.
 *
 * @since 0.1.0
 */
public final class RedisServerHarness implements FillStoreHarness {
  private final RedisConsole console;
  private final boolean replicaOf;
  private final Function<Environment, FillStore> opener;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();

  /**
   * Makes a harness, and the server as new.
   *
   * @param server the server; nobody else uses it meanwhile
   * @param opener opens the store under test on it
   */
  public RedisServerHarness(RedisServerProcess server, Function<Environment, FillStore> opener) {
    this(server.console(), true, opener);
    console.command("REPLICAOF", "NO", "ONE");
  }

  /**
   * Makes a harness on a cluster, and the cluster as new.
   *
   * @param cluster the cluster; nobody else uses it meanwhile
   * @param opener opens the store under test on it
   */
  public RedisServerHarness(RedisClusterProcess cluster, Function<Environment, FillStore> opener) {
    this(cluster.console(), false, opener);
  }

  private RedisServerHarness(
      RedisConsole console, boolean replicaOf, Function<Environment, FillStore> opener) {
    this.console = console;
    this.replicaOf = replicaOf;
    this.opener = requireNonNull(opener, "opener");
    console.command("CONFIG", "SET", "maxmemory", "0");
    console.command("ACL", "SETUSER", "default", "allchannels");
    console.command("FLUSHALL");
  }

  @Override
  public Environment environment() {
    return environment;
  }

  @Override
  public FillStore open(Environment clientEnvironment) {
    return opener.apply(clientEnvironment);
  }

  @Override
  public RedisConsole console() {
    return console;
  }

  @Override
  public boolean hasReplicaOf() {
    return replicaOf;
  }

  @Override
  public void passTime(Duration atLeast) {
    long end = serverMicros() + TimeUnit.NANOSECONDS.toMicros(atLeast.toNanos());
    awaitUntil("the server's clock to reach " + end, () -> serverMicros() >= end);
  }

  private long serverMicros() {
    List<?> time = (List<?>) requireNonNull(console.command("TIME"), "TIME");
    return number(time.get(0)) * 1_000_000 + number(time.get(1));
  }

  private static long number(@Nullable Object digits) {
    byte[] bytes = (byte[]) requireNonNull(digits, "digits");
    return Long.parseLong(new String(bytes, US_ASCII));
  }

  @Override
  public <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    return RealTime.await(stage);
  }

  @Override
  public void awaitUntil(String what, BooleanSupplier condition) {
    RealTime.awaitUntil(what, condition);
  }

  /** Ends the threads of the environment; the server goes on. */
  @Override
  public void close() {
    environment.close();
  }
}
