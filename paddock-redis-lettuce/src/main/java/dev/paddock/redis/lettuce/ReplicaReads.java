/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import io.lettuce.core.api.StatefulConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Sends reads of values where Lettuce's read setting says, and to the primary when no answer comes
 * from there. Thread-safe.
 */
final class ReplicaReads implements Call.Owner {
  /** What a replica that hangs may keep in memory; beyond that the primary is asked at once. */
  static final int OPEN_MAX = 1_000;

  /** For how long only the primary is asked after a read from elsewhere went unanswered. */
  private static final long PAUSE_NANOS = 1_000_000_000;

  private final Environment environment;
  private final StatefulConnection<byte[], byte[]> connection;
  private final Link link;
  private final long patienceNanos;
  private final AtomicInteger open = new AtomicInteger();

  /** When a read went unanswered, or a pause before now. */
  private volatile long silentAt;

  /**
   * Takes over a connection.
   *
   * @param link leads to the primary, and words failures
   * @param patienceNanos how long to wait for an answer before the primary is asked
   */
  ReplicaReads(
      Environment environment,
      StatefulConnection<byte[], byte[]> connection,
      Link link,
      long patienceNanos) {
    this.environment = environment;
    this.connection = connection;
    this.link = link;
    this.patienceNanos = patienceNanos;
    this.silentAt = environment.nanoTime() - PAUSE_NANOS;
  }

  /**
   * Sends a read.
   *
   * @param command makes its object, once for each server that it is sent to
   */
  <T> CompletionStage<T> read(Function<Call.Owner, Call<T>> command) {
    if (environment.nanoTime() - silentAt < PAUSE_NANOS) {
      return link.send(command.apply(link));
    }
    if (open.incrementAndGet() > OPEN_MAX) {
      open.decrementAndGet();
      return link.send(command.apply(link));
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    AtomicBoolean passedOver = new AtomicBoolean();
    Runnable ask =
        () -> {
          if (passedOver.compareAndSet(false, true) && !result.isDone()) {
            CompletionStage<T> primary = link.send(command.apply(link));
            primary.whenComplete(
                (value, failed) -> {
                  if (failed == null) {
                    result.complete(value);
                  } else {
                    result.completeExceptionally(failed);
                  }
                });
          }
        };
    Environment.Timer patience =
        environment.schedule(
            () -> {
              silentAt = environment.nanoTime();
              ask.run();
            },
            patienceNanos);
    Call<T> call = command.apply(this);
    CompletableFuture<?> unused =
        call.whenComplete(
            (value, failed) -> {
              patience.cancel();
              if (failed == null) {
                result.complete(value);
              } else {
                ask.run();
              }
            });
    dispatch(call);
    return result;
  }

  private <T> void dispatch(Call<T> call) {
    try {
      connection.<T>dispatch(call);
    } catch (RuntimeException e) {
      // No server is fit to read from, or the list of servers is just being replaced.
      call.completeExceptionally(e);
    }
  }

  /** How many commands are without a reply. */
  int open() {
    return open.get();
  }

  @Override
  public void settled() {
    open.decrementAndGet();
  }

  /** Reads are what a replica is for. */
  @Override
  public void readOnly() {}

  @Override
  public StoreException unanswered(Throwable cause, boolean mayHaveHappened) {
    return link.unanswered(cause, mayHaveHappened);
  }

  CompletableFuture<Void> close() {
    return connection.closeAsync();
  }
}
