/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreKey;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls the store with a deadline on each command. The answer arrives exactly once: a reply, or a
 * {@link StoreException}; never both, never another exception, never nothing.
 */
final class Gateway {
  /** Takes the answer of a command: one of the two is null. */
  @FunctionalInterface
  interface Answer<T> {
    void accept(@Nullable T reply, @Nullable StoreException error);
  }

  private final Environment env;
  private final FillStore store;
  private final Deadlines deadlines;
  private final Events events;
  private final long timeoutMillis;

  Gateway(
      Environment env, FillStore store, Deadlines deadlines, Events events, long timeoutMillis) {
    this.env = env;
    this.store = store;
    this.deadlines = deadlines;
    this.events = events;
    this.timeoutMillis = timeoutMillis;
  }

  FillStore store() {
    return store;
  }

  long timeoutMillis() {
    return timeoutMillis;
  }

  long nanoTime() {
    return env.nanoTime();
  }

  /** Whether what was sent then has had its time. */
  boolean isOverdue(long sentNanos) {
    return env.nanoTime() - sentNanos >= timeoutMillis * 1_000_000L;
  }

  <T> void call(
      String cache,
      String operation,
      StoreKey key,
      Supplier<CompletionStage<T>> send,
      Answer<T> answer) {
    call(cache, operation, key, send, answer, null);
  }

  /**
   * Sends a command.
   *
   * @param late takes the reply of a command that had been given up, if it still comes
   */
  <T> void call(
      String cache,
      String operation,
      StoreKey key,
      Supplier<CompletionStage<T>> send,
      Answer<T> answer,
      @Nullable Consumer<T> late) {
    Deadlines.Deadline deadline =
        deadlines.start(
            key,
            () ->
                fail(
                    cache,
                    operation,
                    key,
                    answer,
                    new StoreException(
                        operation
                            + " of "
                            + key
                            + " had no answer within "
                            + timeoutMillis
                            + " ms: the store is slow or out of reach, or commandTimeout too short",
                        null,
                        true)));
    CompletionStage<T> stage;
    try {
      stage = send.get();
    } catch (RuntimeException e) {
      if (deadline.finish()) {
        fail(cache, operation, key, answer, asStoreException(operation, key, e));
      }
      return;
    }
    stage.whenComplete(
        (reply, error) -> {
          if (!deadline.finish()) {
            if (error == null && late != null) {
              late.accept(reply);
            }
          } else if (error == null) {
            answer.accept(reply, null);
          } else {
            fail(cache, operation, key, answer, asStoreException(operation, key, error));
          }
        });
  }

  private <T> void fail(
      String cache, String operation, StoreKey key, Answer<T> answer, StoreException error) {
    if (events.on()) {
      events.emit(new CacheEvent.StoreFailed(cache, key.toString(), operation, error));
    }
    answer.accept(null, error);
  }

  private static StoreException asStoreException(String operation, StoreKey key, Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof StoreException known
        ? known
        : new StoreException(operation + " of " + key + " failed", cause, true);
  }
}
