/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * Says how much of a near cache's room an entry takes. Must be thread-safe, quick, and not throw.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface NearWeigher<K, V> {

  /**
   * Weighs an entry, once, when it is kept.
   *
   * @param key the key
   * @param value the value; null where it is known that the source has none
   * @return its weight, in whatever unit the maximum has; below 0 counts as 0
   */
  int weigh(K key, @Nullable V value);
}
