/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.paddock.Lookup;
import dev.paddock.NearWeigher;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/** Values kept in this process for a short while, so that most hits need no command. */
final class NearCache<K, V> {
  /*
   * Validity by stamps
   *
   *   Each key belongs to a stripe by its hash, each tag to another; a change bumps the stripe. A value
   *   remembers the stamps of its stripes from before it was asked for (its tags': from before it was
   *   judged by the barriers), and is valid only as long as they are the same. So a change that comes
   *   between the read of a value and its being kept here is not lost: the value is outdated from the
   *   start. A change outdates the few others of its stripe too, which costs them a read.
   *
   *   The generation does the same for all values at once: after messages may have been missed, and
   *   when the whole cache is cleared.
   */
  private static final int STRIPES = 1 << 14;

  private final Environment env;
  private final long ttlNanos;
  private final Cache<K, Near<V>> values;
  private final @Nullable NearWeigher<? super K, ? super V> weigher;
  private final AtomicIntegerArray keyStripes = new AtomicIntegerArray(STRIPES);
  private final AtomicIntegerArray tagStripes = new AtomicIntegerArray(STRIPES);
  private final AtomicInteger generation = new AtomicInteger();

  private static final class Near<V> {
    final Lookup<V> answer;
    final StoreKey key;
    final long untilNanos;
    final long stamp;
    final int @Nullable [] tags;

    Near(Lookup<V> answer, StoreKey key, long untilNanos, long stamp, int @Nullable [] tagStamps) {
      this.answer = answer;
      this.key = key;
      this.untilNanos = untilNanos;
      this.stamp = stamp;
      this.tags = tagStamps;
    }
  }

  /** A near value. */
  record Hit<V>(Lookup<V> answer, StoreKey key) {}

  /**
   * Makes an empty one.
   *
   * @param maximum the most entries, or the most weight if there is a weigher
   */
  NearCache(
      Environment env,
      long ttlNanos,
      long maximum,
      @Nullable NearWeigher<? super K, ? super V> weigher) {
    this.env = env;
    this.ttlNanos = ttlNanos;
    this.weigher = weigher;
    // Never more threads, and the order of things stays the caller's.
    Caffeine<Object, Object> builder = Caffeine.newBuilder().executor(Runnable::run);
    this.values =
        weigher == null
            ? builder.maximumSize(maximum).build()
            : builder
                .maximumWeight(maximum)
                .weigher((K key, Near<V> near) -> Math.max(0, weigh(key, near)))
                .build();
  }

  private int weigh(K key, Near<V> near) {
    NearWeigher<? super K, ? super V> by = weigher;
    return by == null ? 1 : by.weigh(key, near.answer.value());
  }

  /** The answer that is kept for a key; null if there is none that may be used. */
  @Nullable Lookup<V> get(K key) {
    Near<V> near = values.getIfPresent(key);
    if (near == null) {
      return null;
    }
    if (isValid(near)) {
      return near.answer;
    }
    values.asMap().remove(key, near);
    return null;
  }

  /** The name in the store of a key that has just been found; null if it has gone since. */
  @Nullable StoreKey storeKey(K key) {
    Near<V> near = values.getIfPresent(key);
    return near == null ? null : near.key;
  }

  private boolean isValid(Near<V> near) {
    if (near.stamp != stamp(near.key)) {
      return false;
    }
    int[] tags = near.tags;
    if (tags != null) {
      for (int i = 0; i < tags.length; i += 2) {
        if (tagStripes.get(tags[i]) != tags[i + 1]) {
          return false;
        }
      }
    }
    return near.untilNanos - env.nanoTime() > 0;
  }

  /** What is to be kept later has to be stamped before it is asked for. */
  long stamp(StoreKey key) {
    return ((long) generation.get() << 32) | (keyStripes.get(stripe(key.hashCode())) & 0xffffffffL);
  }

  /** The stamps of tags, to be taken before the value is judged by their barriers. */
  int @Nullable [] tagStamps(List<String> tags) {
    if (tags.isEmpty()) {
      return null;
    }
    int[] stamps = new int[2 * tags.size()];
    int i = 0;
    for (String tag : tags) {
      int stripe = stripe(Barriers.labelOf(tag).hashCode());
      stamps[i++] = stripe;
      stamps[i++] = tagStripes.get(stripe);
    }
    return stamps;
  }

  /**
   * Keeps an answer, for no longer than it is fresh.
   *
   * @param askedNanos when the call began that it answers: its time counts from there, for it may
   *     be as old as that
   * @param stamp from before it was asked for
   * @param tagStamps from before it was judged
   */
  void put(
      K key,
      StoreKey storeKey,
      Lookup<V> answer,
      long freshMillis,
      long askedNanos,
      long stamp,
      int @Nullable [] tagStamps) {
    // Arrays are equal to themselves only: they would be kept and never be found.
    if (freshMillis <= 0 || stamp != stamp(storeKey) || key.getClass().isArray()) {
      return;
    }
    long left = ttlNanos - (env.nanoTime() - askedNanos);
    long nanos = freshMillis > left / 1_000_000L ? left : freshMillis * 1_000_000L;
    if (nanos > 0) {
      try {
        values.put(key, new Near<>(answer, storeKey, env.nanoTime() + nanos, stamp, tagStamps));
      } catch (RuntimeException e) {
        // The weigher, or the key, is the user's: a value that can't be kept is returned all the
        // same.
        return;
      }
    }
  }

  /** A key was changed, here or elsewhere. */
  void changed(StoreKey key) {
    keyStripes.incrementAndGet(stripe(key.hashCode()));
  }

  /** A barrier was raised, and is known to {@link Barriers}. */
  void raised(String label) {
    if (label.equals(Barriers.ALL)) {
      clear();
    } else {
      tagStripes.incrementAndGet(stripe(label.hashCode()));
    }
  }

  /** Forgets everything, also what is being read now. */
  void clear() {
    generation.incrementAndGet();
    values.invalidateAll();
  }

  /** How many values are kept, about; some of them may be outdated. */
  long size() {
    return values.estimatedSize();
  }

  private static int stripe(int hash) {
    return (hash ^ (hash >>> 16)) & (STRIPES - 1);
  }
}
