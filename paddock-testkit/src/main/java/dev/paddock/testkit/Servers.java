/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits for what several servers come to by themselves. */
final class Servers {
  private static final long POLL_MILLIS = 20;

  private Servers() {}

  /**
   * Waits until something holds. A server that can't be asked now, because it was just killed or is
   * still loading, is asked again.
   *
   * @param limit how long to wait
   * @param what is waited for, for the message
   * @param condition may fail as a command to a server does, which counts as false
   * @throws IllegalStateException if it does not hold within the limit, or the thread is
   *     interrupted
   */
  static void await(Duration limit, String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!holds(condition)) {
      if (System.nanoTime() - start > limit.toNanos()) {
        throw new IllegalStateException(
            "waited " + limit.toSeconds() + " seconds in vain for " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for " + what, e);
      }
    }
  }

  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (StoreException | RedisReplyException e) {
      return false;
    }
  }
}
