/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.spi.LeaseStore;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LeaseStoreTck} needs besides the stores it tests: servers that nobody else uses, and
 * time.
 *
 * @since 0.1.0
 */
public interface LeaseStoreHarness extends AutoCloseable {

  /**
   * Opens a store, as another process would: over connections of its own.
   *
   * @return the store, which the suite closes
   */
  LeaseStore open();

  /**
   * Returns a lease time that is over soon: as short as the store allows, and long enough that a
   * slow machine gets a few operations done.
   *
   * @return the time
   */
  Duration shortLease();

  /**
   * Tells whether time passes by itself.
   *
   * @return false in virtual time
   */
  boolean isRealTime();

  /**
   * Lets time go on, the servers' included.
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
