/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.process;

import java.util.concurrent.TimeUnit;

/**
 * Tells whether this JVM is being ended by a signal. The workers and Redis may go before this
 * process does: Ctrl-C reaches them all, and the hook that ends Redis waits for no other. So what
 * they say or fail to do is looked at in that light before it is told as a fault.
 */
public final class Shutdown {
  private static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long POLL_MILLIS = 20;

  private Shutdown() {}

  /**
   * Tells whether the JVM is ending, or begins to within two seconds.
   *
   * @return false after two seconds in which it did not
   */
  public static boolean comesSoon() {
    long start = System.nanoTime();
    try {
      while (!isUnderWay()) {
        if (System.nanoTime() - start > SOON_NANOS) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return isUnderWay();
    }
  }

  /**
   * Tells whether the JVM is ending.
   *
   * @return true from before the first hook runs
   */
  public static boolean isUnderWay() {
    Thread probe = new Thread(() -> {}, "paddock-demo-probe");
    try {
      Runtime.getRuntime().addShutdownHook(probe);
      Runtime.getRuntime().removeShutdownHook(probe);
      return false;
    } catch (IllegalStateException e) {
      // No hook can be added, or removed, any more.
      return true;
    }
  }
}
