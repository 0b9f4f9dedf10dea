/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheConfiguration;
import dev.paddock.CacheEvent;
import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.HdrHistogram.Histogram;

/**
 * How long the fill leases of one cache last: twice the 99th percentile of its recent load times,
 * within the floor and the cap, unless a fixed length was set.
 *
 * <p>Recent are the loads of the last ten to twelve minutes; where there were none, what was
 * measured last stays in force. Watches as well whether the leases that were granted have been long
 * enough. Thread-safe.
 */
final class LeaseSizing {
  /** Fewer loads than this say nothing about a 99th percentile. */
  static final int MIN_LOADS = 20;

  static final Duration SLICE = Duration.ofMinutes(2);
  static final int SLICES = 6;

  private static final int FACTOR = 2;
  private static final double PERCENTILE = 99;

  /** The percentile is worked out no more often, for a busy cache loads a lot. */
  private static final long RECOUNT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int JUDGED_LEASES = 50;
  private static final double TOLERATED = 0.1;
  private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Environment env;
  private final Events<CacheEvent> events;
  private final String cache;
  private final boolean measured;
  private final long floorMillis;
  private final long capMillis;

  private final ReentrantLock lock = new ReentrantLock();
  private final Histogram[] slices = new Histogram[SLICES];
  private final Histogram sum = newHistogram();
  private int slice;
  private long sliceEndNanos;
  private long countedNanos;
  private long countedLoads;
  private volatile long leaseMillis;

  private int leases;
  private int renewed;
  private int lost;
  private boolean warned;
  private long warnedNanos;

  LeaseSizing(Environment env, Events<CacheEvent> events, CacheConfiguration<?, ?> config) {
    this.env = env;
    this.events = events;
    this.cache = config.name();
    this.measured = config.leaseMeasured();
    this.floorMillis = Limits.millisRoundedUp(config.leaseFloor());
    this.capMillis = Limits.millisRoundedUp(config.leaseCap());
    this.leaseMillis = Limits.millisRoundedUp(config.leaseTime());
    this.sliceEndNanos = env.nanoTime() + SLICE.toNanos();
    for (int i = 0; i < SLICES; i++) {
      slices[i] = newHistogram();
    }
  }

  /** Milliseconds with two digits; grows with the longest load. */
  private static Histogram newHistogram() {
    return new Histogram(2);
  }

  /** How long the next lease lasts, in milliseconds. */
  long leaseMillis() {
    return leaseMillis;
  }

  /**
   * Until when the first renewal is due, as a part of the lease. A measured lease is twice what
   * nearly all loads take: at half of it they have ended, and a renewal would be one command too
   * many for each of the others.
   */
  long firstRenewalNanos(long grantedMillis) {
    return grantedMillis * 1_000_000L / (measured ? 2 : 3);
  }

  /** Takes the time of a load that ended with a value, or that was given up for its length. */
  void loaded(long nanos) {
    if (!measured) {
      return;
    }
    long millis = Math.max(0, (nanos + 999_999L) / 1_000_000L);
    lock.lock();
    try {
      long now = env.nanoTime();
      slide(now);
      slices[slice].recordValue(millis);
      countedLoads++;
      // The first ones count one by one: then it matters most, and it costs least.
      if (countedLoads <= MIN_LOADS * 2 || now - countedNanos >= RECOUNT_NANOS) {
        countedNanos = now;
        recount();
      }
    } finally {
      lock.unlock();
    }
  }

  private void slide(long now) {
    for (int passed = 0; now - sliceEndNanos >= 0 && passed < SLICES; passed++) {
      slice = (slice + 1) % SLICES;
      slices[slice].reset();
      sliceEndNanos += SLICE.toNanos();
    }
    if (now - sliceEndNanos >= 0) {
      sliceEndNanos = now + SLICE.toNanos();
    }
  }

  private void recount() {
    sum.reset();
    for (Histogram one : slices) {
      sum.add(one);
    }
    if (sum.getTotalCount() >= MIN_LOADS) {
      long wanted = sum.getValueAtPercentile(PERCENTILE) * FACTOR;
      leaseMillis = Math.min(Math.max(wanted, floorMillis), capMillis);
    }
  }

  /**
   * Takes how a lease went that a whole load ran under.
   *
   * @param renewals how often it was extended
   * @param ranOut whether it ran out while the load ran
   */
  void leaseEnded(String key, long lengthMillis, int renewals, boolean ranOut) {
    double part;
    lock.lock();
    try {
      leases++;
      renewed += renewals > 0 ? 1 : 0;
      lost += ranOut ? 1 : 0;
      if (leases < JUDGED_LEASES) {
        return;
      }
      part = (double) Math.max(renewed, lost) / leases;
      leases = 0;
      renewed = 0;
      lost = 0;
      long now = env.nanoTime();
      if (part <= TOLERATED || (warned && now - warnedNanos < QUIET_NANOS)) {
        return;
      }
      warned = true;
      warnedNanos = now;
    } finally {
      lock.unlock();
    }
    if (events.on()) {
      events.emit(new CacheEvent.LeaseTooShort(cache, key, Duration.ofMillis(lengthMillis), part));
    }
  }
}
