/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.Environment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Calls scripts: by their SHA-1, and whole where the server does not know them. Takes note of the
 * server's time in each reply.
 */
final class ScriptCaller {
  private final RedisTransport transport;
  private final Environment environment;
  private final ServerClocks clocks;

  ScriptCaller(RedisTransport transport, Environment environment, ServerClocks clocks) {
    this.transport = transport;
    this.environment = environment;
    this.clocks = clocks;
  }

  /** Decodes a reply, and passes on the server's time that is in it. */
  @FunctionalInterface
  interface Reading<T> {
    T decode(@Nullable List<byte[]> reply, Replies.Clock clock) throws Replies.Undecodable;
  }

  /**
   * Calls a script.
   *
   * @param operation what it does, for messages
   * @param shown the key, for messages
   * @param reading decodes the reply
   */
  <T> CompletionStage<T> call(
      ScriptText script,
      String operation,
      Object shown,
      byte[][] keys,
      byte[][] args,
      Reading<T> reading) {
    CompletableFuture<T> result = new CompletableFuture<>();
    send(script, operation, shown, keys, args, false, reading, result);
    return result;
  }

  private <T> void send(
      ScriptText script,
      String operation,
      Object shown,
      byte[][] keys,
      byte[][] args,
      boolean whole,
      Reading<T> reading,
      CompletableFuture<T> result) {
    Object server = clocks.use(keys[0]);
    long sent = environment.nanoTime();
    CompletionStage<List<byte[]>> stage;
    try {
      stage =
          whole
              ? transport.eval(script.bytes(), keys, args)
              : transport.evalsha(script.sha1(), keys, args);
    } catch (RuntimeException e) {
      stage = CompletableFuture.failedFuture(e);
    }
    stage.whenComplete(
        (reply, error) -> {
          if (error == null) {
            T value;
            try {
              value =
                  reading.decode(
                      reply, millis -> clocks.heardMillis(server, keys[0], sent, millis));
            } catch (Replies.Undecodable e) {
              result.completeExceptionally(
                  Failures.undecodable(operation, shown, String.valueOf(e.getMessage())));
              return;
            }
            result.complete(value);
            return;
          }
          Throwable cause = Failures.unwrap(error);
          if (!whole && Failures.isNoScript(cause)) {
            send(script, operation, shown, keys, args, true, reading, result);
          } else {
            result.completeExceptionally(Failures.of(operation, shown, cause));
          }
        });
  }
}
