/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Computes a value from the source of truth, with a look at the circumstances of the load.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface Loader<K, V> {
  /**
   * Loads the value of a key. It must read committed data no older than its own start.
   *
   * @param key the key
   * @param context the stale value, the state of the lease, and how to store the result
   * @return the value; null says that there is none, which is cached as a negative entry
   * @throws Exception if the load failed; callers get it as the cause of a {@link
   *     LoadFailedException}
   */
  @Nullable V load(K key, LoadContext<K, V> context) throws Exception;

  /**
   * Makes a loader of one that needs no context.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param loader the loader
   * @return the same, as a {@code Loader}
   */
  static <K, V> Loader<K, V> of(KeyLoader<? super K, ? extends V> loader) {
    requireNonNull(loader, "loader");
    return (key, context) -> loader.load(key);
  }

  /**
   * Makes a loader of an asynchronous function, which no thread waits for while it loads.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param load starts the load; its stage completes with the value, or with null for "there is
   *     none"
   * @return the loader
   */
  static <K, V> AsyncLoader<K, V> async(
      Function<? super K, ? extends CompletionStage<? extends @Nullable V>> load) {
    requireNonNull(load, "load");
    return (key, context) -> load.apply(key);
  }
}
