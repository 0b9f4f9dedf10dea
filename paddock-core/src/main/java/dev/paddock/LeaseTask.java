/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * Work without a result that only the holder of a lease does.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface LeaseTask<X extends Exception> {
  /**
   * Does the work.
   *
   * @param lease the lease: for its fencing token, and to ask whether it is still valid
   * @throws X if the work fails
   */
  void run(Lease lease) throws X;
}
