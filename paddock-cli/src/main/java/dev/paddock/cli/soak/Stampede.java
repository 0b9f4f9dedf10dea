/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadContext;
import dev.paddock.LoadFailedException;
import dev.paddock.Lookup;
import dev.paddock.Otherwise;
import dev.paddock.Paddock;
import dev.paddock.StoreException;
import dev.paddock.jackson.JacksonCodec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Callers that read, a source that changes, invalidations, and one value that is always there. */
final class Stampede {
  /** A load that fails on purpose. */
  private static final class SourceException extends IOException {
    private static final long serialVersionUID = 1;

    SourceException() {
      super("the source fails");
    }
  }

  private static final String ANCHOR = "anchor";
  private static final long UNPROTECTED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int FAILURES_PERCENT = 1;
  private static final int DEGRADED_PERCENT = 20;
  private static final int ROWS_MAX = 200;

  private final Consumer<Said> said;
  private final Counts counts;
  private final Truth truth;
  private final AtomicBoolean stopping;
  private final AtomicLong loads = new AtomicLong();
  private final AtomicLong lastUnprotected = new AtomicLong(System.nanoTime() - UNPROTECTED_NANOS);

  /** Of each key: whether the last grant was of the load beside a holder. */
  private final AtomicIntegerArray beside = new AtomicIntegerArray(Terms.KEYS);

  private final ReentrantLock rowsLock = new ReentrantLock();
  private List<long[]> rows = new ArrayList<>();

  Stampede(Consumer<Said> said, Counts counts, Truth truth, AtomicBoolean stopping) {
    this.said = said;
    this.counts = counts;
    this.truth = truth;
    this.stopping = stopping;
  }

  /** Hears what happens to keys. */
  void onEvent(CacheEvent event) {
    counts.add(event.getClass().getSimpleName());
    long now = System.nanoTime();
    if (event instanceof CacheEvent.StoreFailed failed) {
      counts.add("StoreFailed." + failed.operation());
      sayUnprotected(now, failed.operation());
    } else if (event instanceof CacheEvent.NotStored notStored) {
      sayUnprotected(now, notStored.reason());
    } else if (event instanceof CacheEvent.Unreadable unreadable) {
      said.accept(new Said.Unreadable(now, unreadable.key() + ": " + unreadable.reason()));
    }
    if (event.cache().equals(ANCHOR)) {
      return;
    }
    // The key as it is stored, behind the name of the cache.
    int key = Integer.parseInt(event.key().substring(event.key().indexOf(':') + 1));
    if (event instanceof CacheEvent.LeaseGranted granted) {
      beside.set(key, granted.degraded() ? 1 : 0);
    } else if (event instanceof CacheEvent.OutageServed) {
      said.accept(new Said.OutageServed(key, now));
    } else if (event instanceof CacheEvent.LeaseLost) {
      said.accept(new Said.LeaseLost(key, now));
    } else if (event instanceof CacheEvent.FillEnded fill) {
      String outcome = fill.outcome() == null ? "UNKNOWN" : fill.outcome().name();
      counts.add("FillEnded." + outcome);
      said.accept(new Said.FillEnded(key, now, outcome));
    }
  }

  private void sayUnprotected(long now, String why) {
    long last = lastUnprotected.get();
    if (now - last >= UNPROTECTED_NANOS && lastUnprotected.compareAndSet(last, now)) {
      said.accept(new Said.Unprotected(now, why));
    }
  }

  private long load(int key, LoadContext<Integer, Long> context, SplittableRandom random)
      throws IOException, InterruptedException {
    long load = loads.incrementAndGet();
    boolean leased = context.isLeased() && beside.get(key) == 0;
    counts.add(leased ? "loads.leased" : context.isLeased() ? "loads.beside" : "loads.unleased");
    said.accept(new Said.LoadBegan(key, load, System.nanoTime(), leased));
    boolean failed = true;
    try {
      long version = truth.load(key);
      TimeUnit.MILLISECONDS.sleep(random.nextInt(Terms.LOAD_MILLIS_MIN, Terms.LOAD_MILLIS_MAX + 1));
      if (random.nextInt(100) < FAILURES_PERCENT) {
        throw new SourceException();
      }
      failed = false;
      return Said.Reads.value(version, context.isLeased());
    } finally {
      if (failed) {
        counts.add("loads.failed");
      }
      said.accept(new Said.LoadEnded(key, load, System.nanoTime(), failed));
    }
  }

  /**
   * Makes what this worker does, for a thread each.
   *
   * @param paddock where
   * @param seeds gives each thread a seed
   * @return endless until the worker is to stop
   */
  List<Runnable> threads(Paddock paddock, SplittableRandom seeds) {
    List<Cache<Integer, Long>> caches =
        List.of(cache(paddock, "plain", false), cache(paddock, "stale", true));
    List<Runnable> threads = new ArrayList<>();
    for (int i = 0; i < Terms.CALLERS; i++) {
      SplittableRandom random = seeds.split();
      threads.add(() -> callUntilStopped(caches, random));
    }
    SplittableRandom changes = seeds.split();
    threads.add(() -> changeUntilStopped(caches, changes));
    Cache<String, Long> anchor =
        paddock
            .<String, Long>cache(ANCHOR, JacksonCodec.of(Long.class))
            .timeToLive(Duration.ofHours(1))
            .build();
    SplittableRandom looks = seeds.split();
    threads.add(() -> lookUntilStopped(anchor, looks));
    return threads;
  }

  private static Cache<Integer, Long> cache(Paddock paddock, String name, boolean stale) {
    var builder =
        paddock
            .<Integer, Long>cache(name, JacksonCodec.of(Long.class))
            .timeToLive(Terms.TIME_TO_LIVE)
            .jitter(0)
            .leaseTime(Terms.FILL_LEASE)
            .coolDown(Terms.COOL_DOWN)
            .maxWait(Terms.MAX_WAIT);
    if (stale) {
      builder.serveStaleFor(Terms.SERVE_STALE_FOR);
    }
    return builder.build();
  }

  private void callUntilStopped(List<Cache<Integer, Long>> caches, SplittableRandom random) {
    while (!stopping.get()) {
      int key = random.nextInt(Terms.KEYS);
      call(caches.get(key % 2), key, random);
      pause(random.nextInt(5, 40));
    }
  }

  private void call(Cache<Integer, Long> cache, int key, SplittableRandom random) {
    CallOptions<Integer, Long> options = cache.options();
    if (random.nextInt(100) < DEGRADED_PERCENT) {
      options = options.otherwise(Otherwise.loadDegraded());
    }
    SplittableRandom forLoad = random.split();
    long begun = System.nanoTime();
    long result;
    String odd = null;
    try {
      Long version = cache.get(key, (k, context) -> load(k, context, forLoad), options);
      result = version == null ? Said.Reads.ODD : version;
      odd = version == null ? "null, although the source always has a value" : null;
    } catch (LoadFailedException e) {
      result = Said.Reads.LOAD_FAILED;
      counts.add("calls.loadFailed");
    } catch (FillTimeoutException e) {
      result = Said.Reads.TIMED_OUT;
      counts.add("calls.timedOut");
    } catch (RuntimeException e) {
      result = Said.Reads.ODD;
      odd = e.toString();
    }
    long ended = System.nanoTime();
    if (odd != null) {
      said.accept(new Said.OddError(key, begun, ended, odd));
    }
    note(new long[] {key, begun, ended, result});
  }

  private void note(long[] row) {
    rowsLock.lock();
    try {
      rows.add(row);
      if (rows.size() < ROWS_MAX) {
        return;
      }
    } finally {
      rowsLock.unlock();
    }
    flush();
  }

  /** Says which calls have ended and have not been said. */
  void flush() {
    List<long[]> full;
    rowsLock.lock();
    try {
      full = rows;
      rows = new ArrayList<>();
    } finally {
      rowsLock.unlock();
    }
    said.accept(new Said.Reads(full.stream().flatMapToLong(Arrays::stream).toArray()));
  }

  private void changeUntilStopped(List<Cache<Integer, Long>> caches, SplittableRandom random) {
    while (!stopping.get()) {
      pause(random.nextInt(300, 1500));
      int key = random.nextInt(Terms.KEYS);
      long version = truth.change(key);
      long begun = System.nanoTime();
      said.accept(new Said.Invalidating(key, version, begun));
      boolean acknowledged;
      try {
        caches.get(key % 2).invalidate(key);
        acknowledged = true;
        counts.add("invalidations");
      } catch (StoreException e) {
        acknowledged = false;
        counts.add("invalidations.unacknowledged");
      }
      said.accept(new Said.Invalidated(key, version, begun, System.nanoTime(), acknowledged));
    }
  }

  private void lookUntilStopped(Cache<String, Long> anchor, SplittableRandom random) {
    boolean missing = true;
    while (!stopping.get()) {
      long begun = System.nanoTime();
      Lookup<Long> found = lookup(anchor);
      if (found != null && found.isMissing()) {
        if (!missing) {
          said.accept(new Said.AnchorMissed(begun, System.nanoTime()));
        }
        missing = true;
        put(anchor);
      } else if (found != null) {
        missing = false;
      }
      pause(random.nextInt(30, 80));
    }
  }

  private @Nullable Lookup<Long> lookup(Cache<String, Long> anchor) {
    counts.add("lookups");
    try {
      return anchor.lookup(ANCHOR);
    } catch (StoreException e) {
      counts.add("lookups.failed");
      return null;
    }
  }

  private void put(Cache<String, Long> anchor) {
    long begun = System.nanoTime();
    try {
      anchor.put(ANCHOR, 1L);
      said.accept(new Said.AnchorPut(begun, System.nanoTime(), true));
    } catch (StoreException e) {
      counts.add("puts.failed");
      said.accept(new Said.AnchorPut(begun, System.nanoTime(), false));
    }
  }

  static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
