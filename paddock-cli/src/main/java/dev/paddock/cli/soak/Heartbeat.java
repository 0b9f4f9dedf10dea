/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Notices when this process does not run: stopped, or starved by others. What took longer then is
 * nobody's fault.
 */
final class Heartbeat implements Runnable {
  /** The beat may be late by this much without a word. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(30);

  private final Consumer<Said> said;

  Heartbeat(Consumer<Said> said) {
    this.said = said;
  }

  @Override
  public void run() {
    long last = System.nanoTime();
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(Terms.HEARTBEAT.toMillis());
        long now = System.nanoTime();
        if (now - last > Terms.HEARTBEAT.toNanos() + LATE_NANOS) {
          said.accept(new Said.Stalled(last, now));
        }
        last = now;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
