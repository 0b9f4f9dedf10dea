/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/** Opens a store over a transport: asks the server for its time, which shows that it answers. */
final class StoreOpening {
  private static final byte[] NO_KEY = {};

  private StoreOpening() {}

  /** Waits for a store no longer than the connect time-out; what comes later is closed. */
  static <S> S open(
      RedisTransport transport,
      StoreOptions options,
      CompletionStage<S> stage,
      Consumer<S> closing) {
    CompletableFuture<S> opening = stage.toCompletableFuture();
    try {
      return opening.get(options.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = Failures.unwrap(e);
      boolean may = cause instanceof StoreException known && known.mayHaveHappened();
      throw new StoreException(String.valueOf(cause.getMessage()), cause, may);
    } catch (TimeoutException e) {
      throw abandoned(opening, transport, closing, noAnswer(options.connectTimeout()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw abandoned(
          opening,
          transport,
          closing,
          new PaddockInterruptedException("interrupted while opening the Redis store", e));
    }
  }

  private static <S> PaddockException abandoned(
      CompletableFuture<S> opening,
      RedisTransport transport,
      Consumer<S> closing,
      PaddockException why) {
    if (!opening.completeExceptionally(why)) {
      CompletionStage<S> opened = opening;
      opened.whenComplete(
          (store, error) -> {
            if (error == null) {
              closing.accept(store);
            }
          });
    }
    transport.close();
    return why;
  }

  /** Opens without blocking; completes exceptionally with a {@link StoreException}. */
  static <S> CompletionStage<S> openAsync(
      RedisTransport transport,
      Environment environment,
      StoreOptions options,
      Function<ServerClocks, S> make) {
    requireNonNull(transport, "transport");
    requireNonNull(environment, "environment");
    Duration timeout = options.connectTimeout();
    CompletableFuture<S> opening = new CompletableFuture<>();
    long sent = environment.nanoTime();
    Environment.Timer deadline =
        environment.schedule(
            () -> {
              if (opening.completeExceptionally(noAnswer(timeout))) {
                transport.close();
              }
            },
            timeout.toNanos());
    CompletionStage<Long> reply;
    try {
      reply = transport.timeMicros(NO_KEY);
    } catch (RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    reply.whenComplete(
        (micros, error) -> {
          deadline.cancel();
          try {
            if (error != null) {
              throw Failures.opening(Failures.unwrap(error));
            }
            if (micros == null || micros < 0) {
              throw new StoreException(
                  "the Redis store can't be opened: the answer to TIME makes no sense",
                  null,
                  false);
            }
            long heard = environment.nanoTime();
            ServerClocks clocks =
                new ServerClocks(
                    transport,
                    environment,
                    NO_KEY,
                    ServerClocks.Sample.of(sent, heard, micros, 1),
                    transport.nodeOf(NO_KEY));
            opening.complete(make.apply(clocks));
          } catch (RuntimeException e) {
            if (opening.completeExceptionally(Failures.opening(e))) {
              transport.close();
            }
          }
        });
    return opening;
  }

  private static StoreException noAnswer(Duration timeout) {
    return new StoreException(
        "the Redis store can't be opened: no answer within "
            + timeout
            + "; check the address, or raise the connect time-out",
        null,
        false);
  }
}
