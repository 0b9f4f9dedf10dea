/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Computes the values of several keys at once, with one query for example.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface BulkLoader<K, V> {
  /**
   * Loads the values of some keys. It must read committed data no older than its own start. It
   * blocks no other process: every key it is given is leased to this one, or could not be leased.
   *
   * @param keys the keys, at least one and at most {@code maxBulkSize}, in no particular order; not
   *     to be changed
   * @param context what is known of each key, and how to hand over or fail one by itself
   * @return the values by key, of a map that finds them by the keys given; a key that is missing
   *     there, or has null, and was not handed over or failed by itself, has no value in the
   *     source, which is cached as a negative entry. Other keys are ignored
   * @throws Exception if the load of all keys failed that were not handed over or failed by
   *     themselves; callers get it as the cause of a {@link LoadFailedException} for each of them
   */
  Map<? extends K, ? extends @Nullable V> load(Set<K> keys, BulkContext<K, V> context)
      throws Exception;

  /**
   * Makes a bulk loader of an asynchronous function, which no thread waits for while it loads.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param load starts the load; its stage completes with the values by key
   * @return the loader
   */
  static <K, V> AsyncBulkLoader<K, V> async(
      Function<
              ? super Set<K>,
              ? extends CompletionStage<? extends Map<? extends K, ? extends @Nullable V>>>
          load) {
    requireNonNull(load, "load");
    return (keys, context) -> load.apply(keys);
  }
}
