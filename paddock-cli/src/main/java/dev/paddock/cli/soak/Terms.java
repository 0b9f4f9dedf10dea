/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The sizes and times of the workloads, which the checks have to know. */
final class Terms {
  /** Keys of the cache; the odd ones serve stale values. */
  static final int KEYS = 6;

  static final int CALLERS = 8;
  static final Duration TIME_TO_LIVE = Duration.ofMillis(1500);
  static final Duration SERVE_STALE_FOR = Duration.ofSeconds(2);
  static final Duration FILL_LEASE = Duration.ofSeconds(1);
  static final Duration COOL_DOWN = Duration.ofMillis(200);
  static final Duration MAX_WAIT = Duration.ofSeconds(2);
  static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);
  static final int LOAD_MILLIS_MIN = 50;
  static final int LOAD_MILLIS_MAX = 200;

  static final int REGISTERS = 2;
  static final Duration LEASE = Duration.ofSeconds(2);

  /** The longest lease of the servers that vote: how long one that forgot must not. */
  static final Duration LONGEST_LEASE = Duration.ofSeconds(3);

  /** How long a call may take in a process that always runs. */
  static final Duration CALL_MAX =
      MAX_WAIT
          .plusMillis(LOAD_MILLIS_MAX)
          .plus(COMMAND_TIMEOUT)
          .plus(/* scheduling */ Duration.ofMillis(500));

  /** A gap between two heartbeats that is longer counts as a stall. */
  static final Duration HEARTBEAT = Duration.ofMillis(20);

  private Terms() {}

  static double seconds(long nanos) {
    return Math.round(nanos / (double) TimeUnit.MILLISECONDS.toNanos(1)) / 1000.0;
  }
}
