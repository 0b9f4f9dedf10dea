/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * What became of each key of a bulk read. Each key is in exactly one of values, absent and
 * failures; each of these is in the order in which the keys were given, and can't be changed.
 *
 * @param values the values, stale ones included
 * @param absent the keys that have no value in the source
 * @param failures why a key has no outcome: what {@code get} would have thrown for it
 * @param stale those of the values that are past their soft TTL
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public record BulkResult<K, V>(
    Map<K, V> values, Set<K> absent, Map<K, Throwable> failures, Set<K> stale) {

  /** Keeps copies in the same order. */
  public BulkResult {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    absent = Collections.unmodifiableSet(new LinkedHashSet<>(absent));
    failures = Collections.unmodifiableMap(new LinkedHashMap<>(failures));
    stale = Collections.unmodifiableSet(new LinkedHashSet<>(stale));
  }

  /**
   * Tells whether every key has an outcome.
   *
   * @return true if no key failed
   */
  public boolean isComplete() {
    return failures.isEmpty();
  }
}
