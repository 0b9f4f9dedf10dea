/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** What harnesses of leases in virtual time have in common. */
abstract class VirtualLeaseHarness implements LeaseStoreHarness {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  final VirtualEnvironment environment = new VirtualEnvironment(1);

  @Override
  public Duration shortLease() {
    return Duration.ofMillis(50);
  }

  @Override
  public boolean isRealTime() {
    return false;
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
    for (int i = 0; i < 1_000; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      environment.advance(Duration.ofMillis(10));
    }
    throw new AssertionError("waited in vain for " + what);
  }
}
