/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheConfiguration;
import dev.paddock.CacheEvent;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Decides at each hit of one cache whether the value is refreshed before it expires, and watches
 * whether that happens much too early. Thread-safe.
 */
final class EarlyRefresh {
  /** A load time of 0 would never be early. */
  private static final double MIN_DELTA_MILLIS = 1;

  /** However long a load took, it is counted as no more than this part of the TTL. */
  private static final double MAX_DELTA_PART = 0.1;

  private static final int JUDGED_REFRESHES = 16;
  private static final double EARLIEST_PART = 0.5;
  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Environment env;
  private final Events<CacheEvent> events;
  private final String cache;
  private final double beta;
  private final double part;

  private final ReentrantLock lock = new ReentrantLock();
  private int refreshes;
  private double partsLeft;
  private boolean warned;
  private long warnedNanos;

  EarlyRefresh(Environment env, Events<CacheEvent> events, CacheConfiguration<?, ?> config) {
    this.env = env;
    this.events = events;
    this.cache = config.name();
    this.beta = config.earlyRefresh();
    this.part = config.earlyRefreshAt();
  }

  /** Whether a value is ever refreshed early. */
  boolean isOn() {
    return beta > 0 || part < 1;
  }

  /**
   * Decides for one hit.
   *
   * @param random uniform in [0, 1)
   */
  boolean isDue(StoredEntry entry, long nowMillis, double random) {
    long left = entry.softExpiryMillis() - nowMillis;
    long span = span(entry);
    if (beta > 0) {
      return isDue(left, span, entry.loadMillis(), beta, random);
    }
    return part < 1 && left <= (double) span * (1 - part);
  }

  private static long span(StoredEntry entry) {
    return Math.max(1, entry.softExpiryMillis() - entry.loadStartMillis() - entry.loadMillis());
  }

  /**
   * XFetch, the probabilistic early expiration of Vattani, Chierichetti and Lowenstein: "Optimal
   * Probabilistic Cache Stampede Prevention", VLDB 2015, algorithm 1: refresh if {@code now - delta
   * * beta * ln(U) >= expiry}, U uniform in (0, 1].
   *
   * @param leftMillis until the value expires
   * @param spanMillis for how long it was fresh in all
   * @param loadMillis how long its load took
   * @param random uniform in [0, 1)
   */
  static boolean isDue(
      long leftMillis, long spanMillis, long loadMillis, double beta, double random) {
    double cap = (double) spanMillis * MAX_DELTA_PART;
    double delta = Math.max(MIN_DELTA_MILLIS, Math.min((double) loadMillis, cap));
    return -delta * beta * Math.log(1 - random) >= leftMillis;
  }

  /** Takes that a refresh has been begun early, for the warning. */
  void begun(String key, StoredEntry entry, long nowMillis) {
    if (beta <= 0 || !events.on()) {
      return;
    }
    long span = span(entry);
    double mean;
    lock.lock();
    try {
      partsLeft += Math.max(0, entry.softExpiryMillis() - nowMillis) / (double) span;
      refreshes++;
      if (refreshes < JUDGED_REFRESHES) {
        return;
      }
      mean = partsLeft / refreshes;
      refreshes = 0;
      partsLeft = 0;
      long now = env.nanoTime();
      if (mean <= EARLIEST_PART || (warned && now - warnedNanos < QUIET_NANOS)) {
        return;
      }
      warned = true;
      warnedNanos = now;
    } finally {
      lock.unlock();
    }
    events.emit(
        new CacheEvent.RefreshTooEarly(
            cache, key, Duration.ofMillis((long) (mean * (double) span)), Duration.ofMillis(span)));
  }
}
