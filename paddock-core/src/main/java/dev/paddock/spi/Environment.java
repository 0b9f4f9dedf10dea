/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.util.concurrent.Executor;

/**
 * Clocks, timers, executor and randomness: all that the engine takes from its surroundings besides
 * the store.
 *
 * <p>The default environment uses the JVM's own; the test kit has one in virtual time, which lets
 * one thread run a whole fleet deterministically. Implementations are thread-safe.
 */
public interface Environment {

  /**
   * Returns a reading of the monotonic clock, in nanoseconds; only differences mean something. It
   * must go on while the process is stopped, so that a holder that was paused sees that its lease
   * is over.
   *
   * @return nanoseconds from an arbitrary origin
   */
  long nanoTime();

  /**
   * Returns the wall clock, in milliseconds since 1970. The engine uses it for nothing that has to
   * be right: shared state is dated by the store's clock.
   *
   * @return milliseconds since the epoch
   */
  long wallMillis();

  /**
   * Runs a short task once after a delay. The task runs on a timer thread, must not block, and must
   * not throw; what it throws is reported to the thread's uncaught-exception handler.
   *
   * @param task what to run
   * @param delayNanos nanoseconds from now; zero or less means as soon as possible
   * @return a handle that takes the task back; cancelling a task that has run does nothing
   */
  Timer schedule(Runnable task, long delayNanos);

  /**
   * Returns the executor for everything that may take long or is the user's own code: background
   * refreshes, asynchronous callers, callbacks.
   *
   * @return an executor that never runs a task on the calling thread and refuses none before it is
   *     shut down
   */
  Executor executor();

  /**
   * Returns 64 random bits. Owners and epochs are made of them: they must be unpredictable enough
   * that two processes never draw the same.
   *
   * @return any long, each equally likely
   */
  long randomLong();

  /** Frees threads that the environment itself started. Idempotent. */
  void close();

  /** A task that has been scheduled. */
  @FunctionalInterface
  interface Timer {
    /** Takes the task back if it has not begun. Idempotent, thread-safe, never blocks. */
    void cancel();
  }
}
