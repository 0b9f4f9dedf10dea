/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.spi.Environment;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A fill lease that was granted to this process: until when it is surely valid, its renewal, and
 * who wants to know of its loss.
 *
 * <p>The end of validity is counted from <em>before</em> the request was sent, by the monotonic
 * clock, so the store never frees the lease earlier than this process believes. Losing it is told a
 * margin before that end (a tenth of the lease, 100 ms at most). Renewal goes on, at each third of
 * the lease, until the store says that the lease is another's or gone, or the lease is ended here:
 * an extension that failed, or came late, is no proof of loss.
 */
final class FillLease {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private enum State {
    HELD,
    /** Told as lost, because it has run out as far as this process can know. */
    LAPSED,
    /** Lost for certain. */
    LOST,
    /** Given up here: filled, released or abandoned. Terminal. */
    ENDED
  }

  private final Environment env;
  private final Gateway gateway;
  private final Events<CacheEvent> events;
  private final String cache;
  private final StoreKey key;
  private final long leaseMillis;
  private final long graceMillis;
  private final long sentNanos;
  private final long marginNanos;

  /** Until the first renewal; 0 for none. */
  private final long firstRenewalNanos;

  final String owner;
  final long epoch;
  final long seq;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Runnable> onLost = new ArrayList<>();
  private State state = State.HELD;

  /** Renewed and watched; stays false for the degraded load, which has no lease of its own. */
  private boolean started;

  private long validUntilNanos;
  private int renewals;
  private boolean ranOut;
  private Environment.@Nullable Timer renewTimer;
  private Environment.@Nullable Timer lossTimer;

  FillLease(
      Environment env,
      Gateway gateway,
      Events<CacheEvent> events,
      String cache,
      StoreKey key,
      String owner,
      long epoch,
      long seq,
      long sentNanos,
      long leaseMillis,
      long graceMillis,
      long firstRenewalNanos) {
    this.env = env;
    this.gateway = gateway;
    this.events = events;
    this.cache = cache;
    this.key = key;
    this.owner = owner;
    this.epoch = epoch;
    this.seq = seq;
    this.leaseMillis = leaseMillis;
    this.graceMillis = graceMillis;
    this.firstRenewalNanos = firstRenewalNanos;
    this.sentNanos = sentNanos;
    this.marginNanos = Math.min(leaseMillis * 100_000L, 100_000_000L);
    this.validUntilNanos = sentNanos + leaseMillis * 1_000_000L;
  }

  /** Starts renewal and the watch for the end of validity. */
  void start() {
    lock.lock();
    try {
      started = true;
      if (firstRenewalNanos > 0) {
        renewTimer = env.schedule(this::renew, firstRenewalNanos);
      }
      armLossTimer();
    } finally {
      lock.unlock();
    }
  }

  private long thirdNanos() {
    return leaseMillis * 1_000_000L / 3;
  }

  private void armLossTimer() {
    lossTimer = env.schedule(this::onLossTimer, validUntilNanos - marginNanos - env.nanoTime());
  }

  private void onLossTimer() {
    List<Runnable> told = List.of();
    lock.lock();
    try {
      if (state != State.HELD) {
        return;
      }
      if (validUntilNanos - marginNanos - env.nanoTime() > 0) {
        armLossTimer();
        return;
      }
      state = State.LAPSED;
      ranOut = true;
      told = takeCallbacks();
    } finally {
      lock.unlock();
    }
    tell(told, null);
  }

  private void renew() {
    long sentNanos = env.nanoTime();
    lock.lock();
    try {
      if (state == State.ENDED || state == State.LOST) {
        return;
      }
      renewTimer = null;
    } finally {
      lock.unlock();
    }
    gateway.call(
        cache,
        "EXTEND",
        key,
        () -> gateway.store().extend(key, owner, epoch, leaseMillis, graceMillis),
        (outcome, error) -> onRenewed(sentNanos, outcome));
  }

  private void onRenewed(long sentNanos, @Nullable ExtendOutcome outcome) {
    List<Runnable> told = List.of();
    boolean renewed = false;
    lock.lock();
    try {
      if (state == State.ENDED || state == State.LOST) {
        return;
      }
      if (outcome == ExtendOutcome.LOST || outcome == ExtendOutcome.INVALIDATED) {
        boolean wasHeld = state == State.HELD;
        state = State.LOST;
        cancelTimers();
        if (!wasHeld) {
          return;
        }
        told = takeCallbacks();
      } else {
        long next = thirdNanos();
        if (outcome == ExtendOutcome.EXTENDED) {
          renewed = true;
          renewals++;
          long until = sentNanos + leaseMillis * 1_000_000L;
          // An overtaken reply must not move the end back.
          if (until - validUntilNanos > 0) {
            validUntilNanos = until;
          }
          next -= env.nanoTime() - sentNanos;
        } else {
          next /= 2;
        }
        renewTimer = env.schedule(this::renew, next);
      }
    } finally {
      lock.unlock();
    }
    if (renewed) {
      if (events.on()) {
        events.emit(new CacheEvent.LeaseRenewed(cache, key.toString()));
      }
    } else if (outcome != null) {
      tell(told, outcome);
    }
  }

  private List<Runnable> takeCallbacks() {
    List<Runnable> all = new ArrayList<>(onLost);
    onLost.clear();
    return all;
  }

  private void tell(List<Runnable> callbacks, @Nullable ExtendOutcome outcome) {
    if (events.on()) {
      events.emit(new CacheEvent.LeaseLost(cache, key.toString(), outcome));
    }
    callbacks.forEach(this::runCallback);
  }

  private void runCallback(Runnable callback) {
    try {
      env.executor().execute(callback);
    } catch (RejectedExecutionException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "shut down before a lost lease could be told", e);
    }
  }

  /** Whether the lease may be another's by now. From the clock, so right after a pause as well. */
  boolean isLost() {
    lock.lock();
    try {
      return state == State.LAPSED || state == State.LOST || validUntilNanos - env.nanoTime() <= 0;
    } finally {
      lock.unlock();
    }
  }

  /** Runs a callback on the executor when the lease is lost; at once if it is. */
  void onLost(Runnable callback) {
    lock.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      if (!isLost()) {
        onLost.add(callback);
        return;
      }
    } finally {
      lock.unlock();
    }
    runCallback(callback);
  }

  /** How long it is valid yet. */
  long leftNanos() {
    lock.lock();
    try {
      return Math.max(0, validUntilNanos - env.nanoTime());
    } finally {
      lock.unlock();
    }
  }

  /** How often it has been extended. */
  int renewals() {
    lock.lock();
    try {
      return renewals;
    } finally {
      lock.unlock();
    }
  }

  /** Whether it ran out at some time, as far as this process could know. */
  boolean ranOut() {
    lock.lock();
    try {
      return ranOut;
    } finally {
      lock.unlock();
    }
  }

  /** How long it lasts from each grant and extension. */
  long leaseMillis() {
    return leaseMillis;
  }

  /** Stops renewing and watching. Idempotent; nothing is sent any more afterwards. */
  void end() {
    boolean told;
    long now;
    long margin;
    lock.lock();
    try {
      told = started && state != State.ENDED;
      now = env.nanoTime();
      margin = validUntilNanos - now;
      if (state == State.LOST) {
        // It is another's or gone, whatever the clock says.
        margin = Math.min(margin, 0);
      }
      state = State.ENDED;
      onLost.clear();
      cancelTimers();
    } finally {
      lock.unlock();
    }
    if (told && events.on()) {
      events.emit(
          new CacheEvent.LeaseEnded(
              cache,
              key.toString(),
              Duration.ofMillis(leaseMillis),
              Duration.ofNanos(now - sentNanos),
              Duration.ofNanos(margin)));
    }
  }

  private void cancelTimers() {
    if (renewTimer != null) {
      renewTimer.cancel();
      renewTimer = null;
    }
    if (lossTimer != null) {
      lossTimer.cancel();
      lossTimer = null;
    }
  }
}
