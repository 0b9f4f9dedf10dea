/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LeaseStoreHarness} on real servers and real time. It neither starts nor ends servers, so
 * that they serve a whole test class; the suite takes a new name for each test. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class RealTimeLeaseHarness implements LeaseStoreHarness {
  private final Duration shortLease;
  private final Function<Environment, LeaseStore> opener;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();

  /**
   * Makes a harness.
   *
   * @param shortLease see {@link #shortLease()}
   * @param opener opens the store under test
   */
  public RealTimeLeaseHarness(Duration shortLease, Function<Environment, LeaseStore> opener) {
    this.shortLease = requireNonNull(shortLease, "shortLease");
    this.opener = requireNonNull(opener, "opener");
  }

  @Override
  public LeaseStore open() {
    return opener.apply(environment);
  }

  @Override
  public Duration shortLease() {
    return shortLease;
  }

  @Override
  public boolean isRealTime() {
    return true;
  }

  @Override
  public void passTime(Duration atLeast) {
    long end = System.nanoTime() + atLeast.toNanos();
    awaitUntil(atLeast + " to pass", () -> System.nanoTime() - end >= 0);
  }

  @Override
  public <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    return RealTime.await(stage);
  }

  @Override
  public void awaitUntil(String what, BooleanSupplier condition) {
    RealTime.awaitUntil(what, condition);
  }

  /** Ends the threads of the environment; the servers go on. */
  @Override
  public void close() {
    environment.close();
  }
}
