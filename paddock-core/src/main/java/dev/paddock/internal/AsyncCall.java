/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CallOptions;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.spi.StoreKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The view of a caller that does not block. Its steps, and the dependents of its future, run on the
 * executor: never on a thread of the store's client or of a timer.
 */
final class AsyncCall<K, V> extends Call<K, V> {
  private final Executor executor;
  final CompletableFuture<Lookup<V>> future = new CompletableFuture<>();

  AsyncCall(
      K key,
      StoreKey storeKey,
      @Nullable Loader<K, V> loader,
      CallOptions<K, V> options,
      long startNanos,
      boolean refresh,
      Executor executor) {
    super(key, storeKey, loader, options, startNanos, refresh);
    this.executor = executor;
  }

  @Override
  boolean execute(Step step) {
    if (future.isDone()) {
      return false;
    }
    try {
      executor.execute(step::run);
      return true;
    } catch (RejectedExecutionException e) {
      // The executor was shut down with the Paddock, or by its owner.
      return false;
    }
  }

  @Override
  void answer(Lookup<V> result) {
    if (!future.isDone()) {
      complete(() -> future.complete(result));
    }
  }

  @Override
  void answerHere(Lookup<V> result) {
    future.complete(result);
  }

  @Override
  void fail(Throwable failure) {
    if (!future.isDone()) {
      complete(() -> future.completeExceptionally(failure));
    }
  }

  private void complete(Runnable completion) {
    try {
      executor.execute(completion);
    } catch (RejectedExecutionException e) {
      completion.run();
    }
  }

  @Override
  void loadDone() {}

  @Override
  boolean isGone() {
    return future.isDone();
  }

  @Override
  boolean blocks() {
    return false;
  }

  /** The caller's own future of the value alone. Cancelling it makes the caller leave. */
  CompletableFuture<@Nullable V> view() {
    CompletableFuture<@Nullable V> view = new CompletableFuture<>();
    CompletionStage<Lookup<V>> answered = future;
    answered.whenComplete(
        (lookup, error) -> {
          if (error == null) {
            view.complete(lookup.value());
          } else {
            view.completeExceptionally(error);
          }
        });
    CompletionStage<@Nullable V> ended = view;
    ended.whenComplete(
        (value, error) -> {
          if (view.isCancelled()) {
            future.cancel(false);
          }
        });
    return view;
  }
}
