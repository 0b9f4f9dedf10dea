/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/** One way to take a lease. Thread-safe. */
interface Locker extends AutoCloseable {
  /** What was taken. */
  interface Held {
    /** The fencing token; 0 if this way has none. */
    long token();

    /** Gives it back, and waits until that is done. */
    void release();
  }

  /**
   * Takes a lease; waits for it if another has it.
   *
   * @param name the lease
   * @return the lease
   * @throws Exception if that failed
   */
  Held acquire(String name) throws Exception;

  @Override
  void close();
}
