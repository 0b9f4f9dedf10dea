/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures for how long this process could not get through to Redis at worst, for whatever reason:
 * a thread that sleeps for a moment, sends PING, and looks how long that took. A lease that is lost
 * while nothing gets through is lost rightly.
 */
final class StallMeter {
  private static final long TICK_MILLIS = 10;

  private final RedisCommands<String, String> redis;
  private final AtomicLong longestNanos = new AtomicLong();
  private volatile boolean running;

  StallMeter(RedisCommands<String, String> redis) {
    this.redis = redis;
  }

  void start() {
    Thread thread = new Thread(this::measure, "stall-meter");
    thread.setDaemon(true);
    thread.start();
  }

  /** Forgets what was and measures from now on. */
  void begin() {
    longestNanos.set(0);
    running = true;
  }

  /**
   * Ends the measurement.
   *
   * @return the longest stall since {@link #begin()}, in milliseconds
   */
  long end() {
    running = false;
    return TimeUnit.NANOSECONDS.toMillis(longestNanos.get());
  }

  private void measure() {
    try {
      while (true) {
        long before = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        if (running) {
          redis.ping();
          long over = System.nanoTime() - before - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
          longestNanos.accumulateAndGet(over, Math::max);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RedisException | CancellationException e) {
      // Redis is gone, or this process is ending: nothing is left to measure.
      return;
    }
  }
}
