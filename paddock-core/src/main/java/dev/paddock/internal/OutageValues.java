/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.paddock.Lookup;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreKey;
import org.jspecify.annotations.Nullable;

/**
 * What this process has loaded while the store could not take it, for a short time: so that each
 * key is loaded once in that time, not once for each wave of callers. Thread-safe.
 */
final class OutageValues<V> {
  static final int MOST = 10_000;

  private record Held<V>(Lookup<V> answer, long untilNanos) {}

  private final Environment env;
  private final long ttlNanos;
  private final @Nullable Cache<StoreKey, Held<V>> values;

  /** Makes an empty set; with a TTL of 0 it stays empty. */
  OutageValues(Environment env, long ttlNanos) {
    this.env = env;
    this.ttlNanos = ttlNanos;
    this.values =
        ttlNanos == 0
            ? null
            : Caffeine.newBuilder()
                .maximumSize(MOST)
                // Never more threads, and the order of things stays the caller's.
                .executor(Runnable::run)
                .build();
  }

  /** What was loaded a moment ago; null if nothing was, or it is too old. */
  @Nullable Lookup<V> get(StoreKey key) {
    if (values == null) {
      return null;
    }
    Held<V> held = values.getIfPresent(key);
    if (held == null) {
      return null;
    }
    if (held.untilNanos - env.nanoTime() <= 0) {
      values.asMap().remove(key, held);
      return null;
    }
    return held.answer;
  }

  /** Keeps an answer, for no longer than it is fresh. */
  void put(StoreKey key, Lookup<V> answer, long freshMillis) {
    if (values != null) {
      long nanos = Math.min(ttlNanos, freshMillis * 1_000_000L);
      values.put(key, new Held<>(answer, env.nanoTime() + nanos));
    }
  }

  /** Forgets everything. */
  void clear() {
    if (values != null) {
      values.invalidateAll();
    }
  }

  /** Forgets a key that this process has written or invalidated. */
  void remove(StoreKey key) {
    if (values != null) {
      values.invalidate(key);
    }
  }
}
