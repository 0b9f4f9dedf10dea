/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreKey;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps callers from waiting for a store that does not answer: after a few commands in a row
 * without an answer, what callers would wait for is not sent any more, until a command of the
 * breaker's own is answered. A store that fails at once costs nobody a wait, and does not open it.
 * Each shard is judged by itself. Thread-safe.
 */
final class Breaker {
  static final int UNANSWERED = 3;

  /** Between two tries of its own; each is drawn between half of it and one and a half. */
  static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final Environment env;
  private final Events<CacheEvent> events;
  private final FillStore store;
  private final Deadlines deadlines;

  /** The shards that have not answered of late; none as a rule. */
  private final ConcurrentHashMap<Object, Shard> troubled = new ConcurrentHashMap<>();

  private volatile boolean stopped;

  Breaker(Environment env, Events<CacheEvent> events, FillStore store, Deadlines deadlines) {
    this.env = env;
    this.events = events;
    this.store = store;
    this.deadlines = deadlines;
  }

  /** One shard that has not answered of late. */
  private static final class Shard {
    final AtomicInteger unanswered = new AtomicInteger();
    final AtomicBoolean open = new AtomicBoolean();
  }

  /** Whether nobody should wait for the shard of a key now. */
  boolean isOpen(StoreKey key) {
    if (troubled.isEmpty()) {
      return false;
    }
    Shard shard = troubled.get(store.shardOf(key));
    return shard != null && shard.open.get();
  }

  /** The store has answered something. */
  void answered(String cache, StoreKey key) {
    if (!troubled.isEmpty()) {
      close(store.shardOf(key), cache, key);
    }
  }

  private void close(Object id, String cache, StoreKey key) {
    Shard shard = troubled.remove(id);
    if (shard != null && shard.open.compareAndSet(true, false)) {
      tell(cache, key, false);
    }
  }

  /** A command had no answer in its time. */
  void timedOut(String cache, StoreKey key) {
    Object id = store.shardOf(key);
    Shard shard = troubled.computeIfAbsent(id, unknown -> new Shard());
    if (shard.unanswered.incrementAndGet() >= UNANSWERED && shard.open.compareAndSet(false, true)) {
      tell(cache, key, true);
      scheduleProbe(id, shard, cache, key);
    }
  }

  /** Tries no more. */
  void stop() {
    stopped = true;
  }

  private void scheduleProbe(Object id, Shard shard, String cache, StoreKey key) {
    if (stopped) {
      return;
    }
    // So that the processes of a fleet do not come back all at the same moment.
    long delay = PROBE_NANOS / 2 + Math.floorMod(env.randomLong(), PROBE_NANOS);
    try {
      env.schedule(() -> probe(id, shard, cache, key), delay);
    } catch (RejectedExecutionException e) {
      stopped = true;
    }
  }

  private void probe(Object id, Shard shard, String cache, StoreKey key) {
    if (stopped || troubled.get(id) != shard) {
      return;
    }
    Probe probe = new Probe(() -> scheduleProbe(id, shard, cache, key));
    deadlines.start(key, probe);
    try {
      store
          .read(key)
          .whenComplete(
              (reply, error) -> {
                // Late is good enough: it answers again.
                boolean inTime = probe.finish();
                if (error == null) {
                  // By whichever server has the key now: this one is not asked for it any more.
                  close(id, cache, key);
                } else if (inTime) {
                  scheduleProbe(id, shard, cache, key);
                }
              });
    } catch (RuntimeException e) {
      if (probe.finish()) {
        scheduleProbe(id, shard, cache, key);
      }
    }
  }

  private static final class Probe extends Deadlines.Deadline {
    private final Runnable again;

    Probe(Runnable again) {
      this.again = again;
    }

    @Override
    void expired() {
      again.run();
    }
  }

  private void tell(String cache, StoreKey key, boolean nowOpen) {
    if (events.on()) {
      events.emit(new CacheEvent.BreakerChanged(cache, key.toString(), nowOpen));
    }
  }
}
