/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/**
 * Sends commands with a deadline on each. jetcd's own calls wait for a server without a limit, and
 * one that is stopped would keep its callers.
 */
final class Commands {
  private final Environment environment;
  private final Duration timeout;

  Commands(Environment environment, Duration timeout) {
    this.environment = environment;
    this.timeout = timeout;
  }

  /** Sends; completes exceptionally with a {@link StoreException} only. */
  <T> CompletableFuture<T> send(
      String operation, String name, Supplier<? extends CompletionStage<T>> command) {
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletionStage<T> sent;
    Environment.Timer deadline;
    try {
      deadline =
          environment.schedule(
              () -> result.completeExceptionally(silent(operation, name)), timeout.toNanos());
      sent = command.get();
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(Failures.closed(operation, name));
      return result;
    } catch (RuntimeException e) {
      result.completeExceptionally(Failures.of(operation, name, e));
      return result;
    }
    sent.whenComplete(
        (reply, error) -> {
          deadline.cancel();
          if (error == null) {
            result.complete(reply);
          } else {
            result.completeExceptionally(Failures.of(operation, name, error));
          }
        });
    return result;
  }

  private StoreException silent(String operation, String name) {
    return new StoreException(
        operation
            + " of the lease "
            + name
            + ": etcd did not answer within "
            + timeout.toMillis()
            + " ms: it is slow, out of reach or without a majority, or commandTimeout too short",
        null,
        true);
  }
}
