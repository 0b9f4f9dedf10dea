/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells how far a run is, and whether it is to end: because its time is over, or because somebody
 * has pressed Ctrl-C. Thread-safe.
 */
final class Progress {
  static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** For what is left to do after Ctrl-C: the worlds that run, and the report. */
  private static final long FAREWELL_SECONDS = 30;

  private final long beginNanos = System.nanoTime();
  private final long limitNanos;
  private final @Nullable PrintWriter to;
  private final AtomicLong nextNanos = new AtomicLong(EVERY_NANOS);
  private final CountDownLatch reported = new CountDownLatch(1);
  private volatile boolean interrupted;

  /**
   * Begins.
   *
   * @param limitNanos for how long
   * @param to where to tell; null for nowhere
   */
  Progress(long limitNanos, @Nullable PrintWriter to) {
    this.limitNanos = limitNanos;
    this.to = to;
  }

  /**
   * Tells how far it is if it is time to, and whether it is over.
   *
   * @param worlds how many have been run
   */
  boolean isOver(LongSupplier worlds) {
    long elapsed = System.nanoTime() - beginNanos;
    long next = nextNanos.get();
    if (to != null && elapsed >= next && nextNanos.compareAndSet(next, elapsed + EVERY_NANOS)) {
      to.println(line(worlds.getAsLong(), elapsed));
      to.flush();
    }
    return interrupted || elapsed >= limitNanos;
  }

  static String line(long worlds, long elapsedNanos) {
    double seconds = elapsedNanos / 1e9;
    return String.format(
        Locale.ROOT,
        "%,d worlds in %.0f s, %,.0f a minute",
        worlds,
        seconds,
        worlds / seconds * 60);
  }

  double seconds() {
    return (System.nanoTime() - beginNanos) / 1e9;
  }

  boolean isInterrupted() {
    return interrupted;
  }

  /** Ends the run soon. */
  void interrupt() {
    interrupted = true;
  }

  /** From now on Ctrl-C ends the run, and the JVM waits for the report. */
  Thread hook() {
    Thread hook =
        new Thread(
            () -> {
              interrupt();
              try {
                // Past that the JVM ends without a report, as if asked twice.
                boolean unused = reported.await(FAREWELL_SECONDS, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "simulation-exit");
    Runtime.getRuntime().addShutdownHook(hook);
    return hook;
  }

  /** The report has been printed. */
  void reported(Thread hook) {
    reported.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending already, because of Ctrl-C.
      return;
    }
  }
}
