/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.Lease;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lease of the {@link Leased} method that the calling thread runs, for its fencing token. Bound
 * to the thread: hand the lease itself to other threads.
 */
public final class CurrentLease {
  private static final ThreadLocal<@Nullable Lease> CURRENT = new ThreadLocal<>();

  private CurrentLease() {}

  /**
   * Returns the lease of the innermost such method.
   *
   * @return empty outside of one
   */
  public static Optional<Lease> get() {
    return Optional.ofNullable(CURRENT.get());
  }

  /** Returns the lease of before. */
  static @Nullable Lease set(@Nullable Lease lease) {
    Lease before = CURRENT.get();
    if (lease == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(lease);
    }
    return before;
  }
}
