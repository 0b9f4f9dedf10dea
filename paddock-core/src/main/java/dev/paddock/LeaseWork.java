/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * Work that only the holder of a lease does.
 *
 * @param <T> the type of the result
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface LeaseWork<T, X extends Exception> {
  /**
   * Does the work.
   *
   * @param lease the lease: for its fencing token, and to ask whether it is still valid
   * @return the result; null if there is none
   * @throws X if the work fails
   */
  @Nullable T run(Lease lease) throws X;
}
