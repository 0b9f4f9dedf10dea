/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * Computes a value from the source of truth.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface KeyLoader<K, V> {
  /**
   * Loads the value of a key. It must read committed data no older than its own start.
   *
   * @param key the key
   * @return the value; null says that there is none, which is cached as a negative entry
   * @throws Exception if the load failed; callers get it as the cause of a {@link
   *     LoadFailedException}
   */
  @Nullable V load(K key) throws Exception;
}
