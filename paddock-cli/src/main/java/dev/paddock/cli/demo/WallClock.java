/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The clock that all processes of one machine share. */
final class WallClock {
  private WallClock() {}

  /**
   * Reads the clock.
   *
   * @return microseconds since 1970
   */
  static long micros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond())
        + TimeUnit.NANOSECONDS.toMicros(now.getNano());
  }

  /**
   * Waits for an instant; returns at once if it has passed.
   *
   * @param atMicros the instant
   * @throws InterruptedException if the thread was interrupted
   */
  static void sleepUntil(long atMicros) throws InterruptedException {
    for (long left = atMicros - micros(); left > 0; left = atMicros - micros()) {
      TimeUnit.MICROSECONDS.sleep(left);
    }
  }
}
