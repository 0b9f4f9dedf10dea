/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * The circumstances of the load of several keys at once. Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public interface BulkContext<K, V> {

  /**
   * Returns the circumstances of the load of one key, through which its TTL is set for example. As
   * with any load, what is set after the value was handed over has no effect.
   *
   * @param key one of the keys of this load
   * @return its context
   * @throws IllegalArgumentException if the key is not among those of this load
   */
  LoadContext<K, V> of(K key);

  /**
   * Hands over the value of one key while the load goes on: it is stored, and its callers in other
   * calls get it, without waiting for the rest. What the loader returns for the key later is
   * ignored.
   *
   * @param key one of the keys of this load
   * @param value the value; null says that the source has none
   * @throws IllegalArgumentException if the key is not among those of this load
   */
  void loaded(K key, @Nullable V value);

  /**
   * Fails the load of one key alone. What the loader returns for the key later is ignored.
   *
   * @param key one of the keys of this load
   * @param cause why; callers get it as the cause of a {@link LoadFailedException}
   * @throws IllegalArgumentException if the key is not among those of this load
   */
  void failed(K key, Throwable cause);
}
