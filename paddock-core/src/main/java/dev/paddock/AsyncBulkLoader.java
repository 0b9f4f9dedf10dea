/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A bulk loader that starts a load and returns at once. It can be used wherever a {@link
 * BulkLoader} can; no thread waits for it while it loads.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface AsyncBulkLoader<K, V> extends BulkLoader<K, V> {
  /**
   * Starts the load of some keys.
   *
   * @param keys as for {@link BulkLoader#load}
   * @param context what is known of each key, and how to hand over or fail one by itself
   * @return completes with the values by key, as for {@link BulkLoader#load}
   * @throws Exception if the load could not be started
   */
  CompletionStage<? extends Map<? extends K, ? extends @Nullable V>> loadAsync(
      Set<K> keys, BulkContext<K, V> context) throws Exception;

  /** Starts the load and waits for it. The engine calls {@link #loadAsync} instead. */
  @Override
  // The engine looks at the type; a lambda cast to BulkLoader is one, which is what it says.
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default Map<? extends K, ? extends @Nullable V> load(Set<K> keys, BulkContext<K, V> context)
      throws Exception {
    try {
      return loadAsync(keys, context).toCompletableFuture().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw new CompletionException(e.getCause());
    }
  }
}
