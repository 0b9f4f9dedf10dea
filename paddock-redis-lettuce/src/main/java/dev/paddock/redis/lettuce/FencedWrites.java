/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.FenceOutcome;
import dev.paddock.redis.FencedWrite;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisScriptingAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Sends {@link FencedWrite}s over the application's own connection, standalone or cluster.
 * Stateless; nothing blocks.
 */
public final class FencedWrites {
  private FencedWrites() {}

  /**
   * Sends a fenced write: by its SHA-1, and whole where the server does not know it.
   *
   * @param commands of a connection with {@link io.lettuce.core.codec.ByteArrayCodec}
   * @param write the write
   * @return what the resource says; completes exceptionally with what Lettuce does. Without an
   *     answer the write may have happened; sending it again is safe
   */
  public static CompletionStage<FenceOutcome> send(
      RedisScriptingAsyncCommands<byte[], byte[]> commands, FencedWrite write) {
    requireNonNull(commands, "commands");
    CompletionStage<List<byte[]>> known =
        commands.evalsha(write.sha1(), ScriptOutputType.MULTI, write.keys(), write.args());
    CompletableFuture<FenceOutcome> result = new CompletableFuture<>();
    known.whenComplete(
        (reply, error) -> {
          if (cause(error) instanceof RedisNoScriptException) {
            CompletionStage<List<byte[]>> whole =
                commands.eval(write.script(), ScriptOutputType.MULTI, write.keys(), write.args());
            whole.whenComplete((again, failure) -> complete(result, write, again, failure));
          } else {
            complete(result, write, reply, error);
          }
        });
    return result;
  }

  private static void complete(
      CompletableFuture<FenceOutcome> result,
      FencedWrite write,
      @Nullable List<byte[]> reply,
      @Nullable Throwable error) {
    Throwable cause = cause(error);
    if (cause != null || reply == null) {
      result.completeExceptionally(
          cause != null ? cause : new IllegalStateException("the script answered nothing"));
      return;
    }
    try {
      result.complete(write.outcome(reply));
    } catch (RuntimeException e) {
      result.completeExceptionally(e);
    }
  }

  private static @Nullable Throwable cause(@Nullable Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }
}
