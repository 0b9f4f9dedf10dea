/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Waits of harnesses on real servers, for as long as a slow machine may need. */
final class RealTime {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final long POLL_MILLIS = 5;

  private RealTime() {}

  /** Waits for a stage, not by polling: the suites wait for thousands of replies. */
  static <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    try {
      return future.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      // In the form that the harness promises.
      return future.join();
    } catch (TimeoutException e) {
      throw new AssertionError("waited " + LIMIT + " in vain for a stage to complete", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a stage to complete", e);
    }
  }

  /** Waits until something holds. */
  static void awaitUntil(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > LIMIT.toNanos()) {
        throw new AssertionError("waited " + LIMIT + " in vain for " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new AssertionError("interrupted while waiting for " + what, e);
      }
    }
  }
}
