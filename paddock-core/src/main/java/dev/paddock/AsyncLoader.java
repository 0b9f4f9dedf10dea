/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A loader that starts a load and returns at once. It can be used wherever a {@link Loader} can; no
 * thread waits for it while it loads.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
@FunctionalInterface
public interface AsyncLoader<K, V> extends Loader<K, V> {
  /**
   * Starts the load of a key.
   *
   * @param key the key
   * @param context the stale value, the state of the lease, and how to store the result
   * @return completes with the value, or with null for "there is none"
   * @throws Exception if the load could not be started
   */
  CompletionStage<? extends @Nullable V> loadAsync(K key, LoadContext<K, V> context)
      throws Exception;

  /** Starts the load and waits for it. The engine calls {@link #loadAsync} instead. */
  @Override
  // The engine looks at the type; a lambda cast to Loader is a Loader, which is what it says.
  @SuppressWarnings("FunctionalInterfaceMethodChanged")
  default @Nullable V load(K key, LoadContext<K, V> context) throws Exception {
    try {
      return loadAsync(key, context).toCompletableFuture().get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw new CompletionException(e.getCause());
    }
  }
}
