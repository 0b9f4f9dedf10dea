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
import java.util.function.BiConsumer;
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
  private final Breaker breaker;
  private final Events<CacheEvent> events;
  private final long timeoutMillis;

  Gateway(
      Environment env,
      FillStore store,
      Deadlines deadlines,
      Breaker breaker,
      Events<CacheEvent> events,
      long timeoutMillis) {
    this.env = env;
    this.store = store;
    this.deadlines = deadlines;
    this.breaker = breaker;
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

  /** Whether {@link #ask} sends nothing for a key now. */
  boolean isSuspended(StoreKey key) {
    return breaker.isOpen(key);
  }

  /**
   * Sends a command that a caller waits for, and that can be left out: if the store does not answer
   * these days it fails at once, unsent.
   */
  <T> void ask(
      String cache,
      String operation,
      StoreKey key,
      Supplier<CompletionStage<T>> send,
      Answer<T> answer,
      @Nullable Consumer<T> late) {
    if (breaker.isOpen(key)) {
      fail(
          cache,
          operation,
          key,
          answer,
          new StoreException(
              operation
                  + " of "
                  + key
                  + " was not sent: the store has not answered a while ago and is being tried"
                  + " beside",
              null,
              false));
    } else {
      call(cache, operation, key, send, answer, late);
    }
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
    Command<T> command = new Command<>(cache, operation, key, answer, late);
    deadlines.start(key, command);
    CompletionStage<T> stage;
    try {
      stage = send.get();
    } catch (RuntimeException e) {
      command.accept(null, e);
      return;
    }
    stage.whenComplete(command);
  }

  /** A command under way: its deadline, and who takes its answer, in one object. */
  private final class Command<T> extends Deadlines.Deadline
      implements BiConsumer<@Nullable T, @Nullable Throwable> {
    private final String cache;
    private final String operation;
    private final StoreKey key;
    private @Nullable Answer<T> answer;
    private @Nullable Consumer<T> late;

    Command(
        String cache,
        String operation,
        StoreKey key,
        Answer<T> answer,
        @Nullable Consumer<T> late) {
      this.cache = cache;
      this.operation = operation;
      this.key = key;
      this.answer = answer;
      this.late = late;
    }

    @Override
    public void accept(@Nullable T reply, @Nullable Throwable error) {
      if (!finish()) {
        if (error == null) {
          breaker.answered(cache, key);
        }
        Consumer<T> tooLate = late;
        if (error == null && tooLate != null) {
          tooLate.accept(reply);
        }
        return;
      }
      Answer<T> to = take();
      if (error == null) {
        breaker.answered(cache, key);
        if (to != null) {
          to.accept(reply, null);
        }
      } else {
        fail(cache, operation, key, to, asStoreException(operation, key, error));
      }
    }

    @Override
    void expired() {
      Answer<T> to = answer;
      answer = null;
      breaker.timedOut(cache, key);
      fail(
          cache,
          operation,
          key,
          to,
          new StoreException(
              operation
                  + " of "
                  + key
                  + " had no answer within "
                  + timeoutMillis
                  + " ms: the store is slow or out of reach, or commandTimeout too short",
              null,
              true));
    }

    /** Takes the answer's receiver, and lets go of what is not needed any more. */
    private @Nullable Answer<T> take() {
      Answer<T> to = answer;
      answer = null;
      late = null;
      return to;
    }
  }

  private <T> void fail(
      String cache,
      String operation,
      StoreKey key,
      @Nullable Answer<T> answer,
      StoreException error) {
    if (events.on()) {
      events.emit(new CacheEvent.StoreFailed(cache, key.toString(), operation, error));
    }
    if (answer != null) {
      answer.accept(null, error);
    }
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
