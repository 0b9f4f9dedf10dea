/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.spi.Environment;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks a client for a connection. */
final class Connecting {
  private Connecting() {}

  /**
   * Connects on the executor: a client may resolve host names on the thread that asks it to.
   *
   * @param connect opens a connection; may block or throw
   * @param done takes the connection, or what kept it from being made; called once
   */
  static <C> void start(
      Environment environment,
      Supplier<CompletionStage<C>> connect,
      BiConsumer<@Nullable C, @Nullable Throwable> done) {
    try {
      environment
          .executor()
          .execute(
              () -> {
                try {
                  connect.get().whenComplete(done);
                } catch (RuntimeException e) {
                  done.accept(null, e);
                }
              });
    } catch (RejectedExecutionException e) {
      done.accept(null, e);
    }
  }
}
