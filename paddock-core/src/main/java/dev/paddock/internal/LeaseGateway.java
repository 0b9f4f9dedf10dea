/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.LeaseEvent;
import dev.paddock.StoreException;
import dev.paddock.spi.LeaseStore;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls a store of leases with a deadline on each operation. The answer arrives exactly once: a
 * reply, or a {@link StoreException}; never both, never another exception, never nothing.
 */
final class LeaseGateway {
  private final LeaseStore store;
  private final Deadlines deadlines;
  private final Events<LeaseEvent> events;
  private final long patienceMillis;

  LeaseGateway(
      LeaseStore store, Deadlines deadlines, Events<LeaseEvent> events, long patienceMillis) {
    this.store = store;
    this.deadlines = deadlines;
    this.events = events;
    this.patienceMillis = patienceMillis;
  }

  LeaseStore store() {
    return store;
  }

  long patienceMillis() {
    return patienceMillis;
  }

  /**
   * Sends an operation.
   *
   * @param late takes the reply of an operation that had been given up, if it still comes
   */
  <T> void call(
      String operation,
      String name,
      Supplier<CompletionStage<T>> send,
      Gateway.Answer<T> answer,
      @Nullable Consumer<T> late) {
    Operation<T> sent = new Operation<>(operation, name, answer, late);
    CompletionStage<T> stage;
    try {
      deadlines.start(name, sent);
      stage = send.get();
    } catch (RuntimeException e) {
      // Also where closing was faster, and there are no timers any more.
      sent.accept(null, e);
      return;
    }
    stage.whenComplete(sent);
  }

  /** An operation under way. */
  private final class Operation<T> extends Deadlines.Deadline
      implements BiConsumer<T, @Nullable Throwable> {
    private final String operation;
    private final String name;
    private final Gateway.Answer<T> answer;
    private final @Nullable Consumer<T> late;

    Operation(String operation, String name, Gateway.Answer<T> answer, @Nullable Consumer<T> late) {
      this.operation = operation;
      this.name = name;
      this.answer = answer;
      this.late = late;
    }

    @Override
    void expired() {
      fail(
          operation,
          name,
          answer,
          new StoreException(
              operation
                  + " of the lease "
                  + name
                  + " had no answer within "
                  + patienceMillis
                  + " ms: the store is slow or out of reach, or commandTimeout too short",
              null,
              true));
    }

    @Override
    public void accept(@Nullable T reply, @Nullable Throwable error) {
      if (!finish()) {
        if (reply != null && late != null) {
          late.accept(reply);
        }
      } else if (error == null) {
        answer.accept(reply, null);
      } else {
        fail(operation, name, answer, asStoreException(operation, name, error));
      }
    }
  }

  private <T> void fail(
      String operation, String name, Gateway.Answer<T> answer, StoreException error) {
    if (events.on()) {
      events.emit(new LeaseEvent.StoreFailed(name, operation, error));
    }
    answer.accept(null, error);
  }

  private static StoreException asStoreException(String operation, String name, Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause instanceof StoreException known
        ? known
        : new StoreException(operation + " of the lease " + name + " failed", cause, true);
  }
}
