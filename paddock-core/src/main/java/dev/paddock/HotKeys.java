/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.paddock.internal.Limits;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;

/**
 * A listener that knows which keys are loaded, waited for and contended most, in this process since
 * it was made or {@link #reset()}:
 *
 * <pre>{@code
 * HotKeys hotKeys = HotKeys.create();
 * Paddock paddock = Paddock.newBuilder().store(uri).listener(hotKeys).build();
 * ...
 * hotKeys.mostLoaded(10).forEach(System.out::println);
 * }</pre>
 *
 * <p>It follows a bounded number of keys. If there are more, it keeps those that occur often and
 * lets go of the others (W-TinyLFU, by Caffeine), so counts of keys at the edge may have begun
 * late; those of hot keys are exact unless they were cold for long. Hits are not counted: they are
 * too many to look at each. Keys may be personal data. Thread-safe.
 */
public final class HotKeys implements PaddockListener {
  private static final int USUAL_TRACKED = 10_000;

  private record Id(String cache, String key) {}

  private static final class Counts {
    final LongAdder loads = new LongAdder();
    final LongAdder loadNanos = new LongAdder();
    final LongAdder waits = new LongAdder();
    final LongAdder waitNanos = new LongAdder();
    final LongAdder contentions = new LongAdder();
  }

  /**
   * What happened to one key.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param loads how many of its loads ended in this process
   * @param loadTime how long these took together
   * @param waits how many waits of callers for it ended
   * @param waitTime how long these took together
   * @param contentions how often another process had its lease
   */
  public record HotKey(
      String cache,
      String key,
      long loads,
      Duration loadTime,
      long waits,
      Duration waitTime,
      long contentions) {}

  private final Cache<Id, Counts> counts;

  private HotKeys(int tracked) {
    counts = Caffeine.newBuilder().maximumSize(tracked).executor(Runnable::run).build();
  }

  /**
   * Makes a listener that follows 10,000 keys at most.
   *
   * @return the listener
   */
  public static HotKeys create() {
    return create(USUAL_TRACKED);
  }

  /**
   * Makes a listener.
   *
   * @param trackedKeys how many keys it follows at most; a few hundred bytes each. Several times as
   *     many as are asked for
   * @return the listener
   * @throws IllegalArgumentException if it is less than 1
   */
  public static HotKeys create(int trackedKeys) {
    return new HotKeys(Limits.atLeast(trackedKeys, 1, "trackedKeys"));
  }

  @Override
  public void onEvent(CacheEvent event) {
    if (event instanceof CacheEvent.LoadEnded ended) {
      Counts of = of(event);
      of.loads.increment();
      of.loadNanos.add(ended.duration().toNanos());
    } else if (event instanceof CacheEvent.WaitEnded ended) {
      Counts of = of(event);
      of.waits.increment();
      of.waitNanos.add(ended.duration().toNanos());
    } else if (event instanceof CacheEvent.LeaseContended) {
      of(event).contentions.increment();
    }
  }

  private Counts of(CacheEvent event) {
    return counts.get(new Id(event.cache(), event.key()), id -> new Counts());
  }

  /**
   * Returns the keys with the most loads.
   *
   * @param most how many keys at most; at least 1
   * @return the keys, the most loaded first; none without a load
   * @throws IllegalArgumentException if {@code most} is less than 1
   */
  public List<HotKey> mostLoaded(int most) {
    return top(most, HotKey::loads);
  }

  /**
   * Returns the keys for which callers have waited the longest time together.
   *
   * @param most how many keys at most; at least 1
   * @return the keys, the most waited for first; none without a wait
   * @throws IllegalArgumentException if {@code most} is less than 1
   */
  public List<HotKey> mostWaitedFor(int most) {
    return top(most, key -> key.waitTime().toNanos());
  }

  /**
   * Returns the keys whose lease another process had most often when this one asked.
   *
   * @param most how many keys at most; at least 1
   * @return the keys, the most contended first; none without a contention
   * @throws IllegalArgumentException if {@code most} is less than 1
   */
  public List<HotKey> mostContended(int most) {
    return top(most, HotKey::contentions);
  }

  private List<HotKey> top(int most, ToLongFunction<HotKey> by) {
    Limits.atLeast(most, 1, "most");
    return counts.asMap().entrySet().stream()
        .map(
            entry ->
                new HotKey(
                    entry.getKey().cache,
                    entry.getKey().key,
                    entry.getValue().loads.sum(),
                    Duration.ofNanos(entry.getValue().loadNanos.sum()),
                    entry.getValue().waits.sum(),
                    Duration.ofNanos(entry.getValue().waitNanos.sum()),
                    entry.getValue().contentions.sum()))
        .filter(key -> by.applyAsLong(key) > 0)
        .sorted(
            Comparator.comparingLong(by)
                .reversed()
                .thenComparing(HotKey::cache)
                .thenComparing(HotKey::key))
        .limit(most)
        .toList();
  }

  /** Forgets everything and counts anew. */
  public void reset() {
    counts.invalidateAll();
  }
}
