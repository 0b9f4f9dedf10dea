/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What {@link FillStoreTck} needs besides the stores it tests: a server that nobody else uses, and
 * time.
 *
 * @since 0.1.0
 */
public interface FillStoreHarness extends AutoCloseable {

  /**
   * Returns clocks, timers and executor of the test's own machine.
   *
   * @return always the same
   */
  Environment environment();

  /**
   * Opens a store, as another process would: over a connection of its own.
   *
   * @param clientEnvironment that process's clocks, timers and executor
   * @return the store, which the suite closes
   */
  FillStore open(Environment clientEnvironment);

  /**
   * Returns a way to the server's raw keys and settings.
   *
   * @return always the same
   */
  RedisConsole console();

  /**
   * Tells whether the server knows REPLICAOF. The servers of a cluster refuse it: there, the server
   * of a slot is a primary always, and a replica sends its clients on instead of refusing writes.
   *
   * @return true unless overridden
   */
  default boolean hasReplicaOf() {
    return true;
  }

  /**
   * Lets time go on, the server's included.
   *
   * @param atLeast by how much at least
   */
  void passTime(Duration atLeast);

  /**
   * Waits for a stage, for as long as a slow machine may need.
   *
   * @param <T> the type of its result
   * @param stage what to wait for
   * @return its result
   * @throws java.util.concurrent.CompletionException if it completes exceptionally
   * @throws AssertionError if it does not complete
   */
  <T extends @Nullable Object> T await(CompletionStage<T> stage);

  /**
   * Waits until something holds, for as long as a slow machine may need.
   *
   * @param what for the message
   * @param condition what to wait for
   * @throws AssertionError if it does not come true
   */
  void awaitUntil(String what, BooleanSupplier condition);

  /** Frees what the harness has opened. */
  @Override
  void close();
}
