/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The clock that the processes of one machine share. */
final class WallClock {
  private WallClock() {}

  /** Reads the clock: microseconds since 1970. */
  static long micros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond())
        + TimeUnit.NANOSECONDS.toMicros(now.getNano());
  }

  /** Waits for an instant; returns at once if it has passed. */
  static void sleepUntil(long atMicros) throws InterruptedException {
    for (long left = atMicros - micros(); left > 0; left = atMicros - micros()) {
      TimeUnit.MICROSECONDS.sleep(left);
    }
  }
}
