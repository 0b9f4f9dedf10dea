/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * What became of work under a lease.
 *
 * @param <T> the type of the result
 * @param ran whether the work ran; false if another holds the lease
 * @param value the result of the work; null if it did not run, or has none
 * @param outcome how the lease ended; null if the work did not run. Anything but {@code RELEASED}
 *     means that another may have run meanwhile
 */
public record LeaseRun<T>(boolean ran, @Nullable T value, @Nullable LeaseOutcome outcome) {
  private static final LeaseRun<?> SKIPPED = new LeaseRun<>(false, null, null);

  /**
   * Returns what says that another holds the lease.
   *
   * @param <T> the type of the result
   * @return always the same
   */
  @SuppressWarnings("unchecked") // It has no value.
  public static <T> LeaseRun<T> skipped() {
    return (LeaseRun<T>) SKIPPED;
  }
}
