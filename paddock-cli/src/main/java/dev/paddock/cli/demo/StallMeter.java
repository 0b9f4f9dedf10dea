/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.PaddockException;
import dev.paddock.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Measures for how long this process could not get through to Redis at worst, for whatever reason:
 * a thread that sleeps for a moment, looks up what is not there, and looks how long that took. A
 * lease that is lost while nothing gets through is lost rightly.
 *
 * <p>It asks on Paddock's own connection, and for a key of the slot that the experiment is about:
 * in a cluster another master may be well while that one is gone.
 */
final class StallMeter {
  /** Names the cache that is asked; what it asks for is no command of the experiment's. */
  static final String NAME = "contact";

  private static final long TICK_MILLIS = 10;

  private final Cache<String, String> contact;
  private final String prefix;
  private final AtomicLong longestNanos = new AtomicLong();
  private volatile @Nullable String key;

  StallMeter(Paddock paddock, String prefix) {
    this.contact = paddock.<String, String>cache(NAME, Codecs.string()).keyPrefix(prefix).build();
    this.prefix = prefix;
  }

  void start() {
    Thread thread = new Thread(this::measure, "stall-meter");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Forgets what was and measures from now on.
   *
   * @param cell which key the experiment is about
   */
  void begin(Cell cell) {
    longestNanos.set(0);
    key = "{" + CacheAside.valueKey(prefix, cell) + "}";
  }

  /**
   * Ends the measurement.
   *
   * @return the longest stall since {@link #begin}, in milliseconds; one that goes on counts up to
   *     now
   */
  long end() {
    key = null;
    return TimeUnit.NANOSECONDS.toMillis(longestNanos.get());
  }

  private void measure() {
    try {
      long lastContact = System.nanoTime();
      while (true) {
        TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        String asked = key;
        boolean contacted = asked == null || reaches(asked);
        long now = System.nanoTime();
        if (asked != null) {
          long over = now - lastContact - TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
          longestNanos.accumulateAndGet(over, Math::max);
        }
        if (contacted) {
          lastContact = now;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (PaddockException e) {
      // Paddock is closed, as this process is ending: nothing is left to measure.
      return;
    }
  }

  private boolean reaches(String asked) {
    try {
      contact.lookup(asked);
      return true;
    } catch (StoreException e) {
      // Asked again, for as long as it takes.
      return false;
    }
  }
}
