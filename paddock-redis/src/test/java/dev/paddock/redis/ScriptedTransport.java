/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.spi.HintSubscription;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A transport whose answers a test lays out beforehand, and which notes what was asked. */
final class ScriptedTransport implements RedisTransport {
  final List<Call> calls = new ArrayList<>();
  final List<String> channels = new ArrayList<>();
  int times;
  int closes;
  boolean sharded;
  LongSupplier serverMicros = () -> 1_795_966_624_165_000L;
  Function<byte[], Object> nodes = key -> "only";
  Function<Call, CompletionStage<?>> answer = call -> new CompletableFuture<>();
  @Nullable Function<byte[], CompletionStage<Long>> timeAnswer;
  private final Deque<CompletionStage<?>> answers = new ArrayDeque<>();

  /** One command. */
  record Call(String command, String script, List<byte[]> keys, List<byte[]> args) {
    String arg(int index) {
      return new String(args.get(index), ISO_8859_1);
    }
  }

  /** Lays out the answer to the next command that is not TIME; answers are used in turn. */
  ScriptedTransport then(CompletionStage<?> stage) {
    answers.add(stage);
    return this;
  }

  /** Lays out a script's reply. */
  ScriptedTransport thenReply(String... parts) {
    return then(CompletableFuture.completedFuture(reply(parts)));
  }

  /** A script's reply. */
  static List<byte[]> reply(String... parts) {
    return List.of(String.join(" ", parts).getBytes(ISO_8859_1));
  }

  ScriptedTransport thenError(String message) {
    return then(CompletableFuture.failedFuture(new RedisReplyException(message)));
  }

  Call last() {
    return calls.get(calls.size() - 1);
  }

  @SuppressWarnings("unchecked") // The test lays out what fits the command.
  private <T> CompletionStage<T> next(Call call) {
    calls.add(call);
    CompletionStage<?> stage = answers.poll();
    return (CompletionStage<T>) (stage == null ? answer.apply(call) : stage);
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return next(new Call("GET", "", List.of(key), List.of()));
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return next(new Call("EVALSHA", sha1, List.of(keys), List.of(args)));
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return next(new Call("EVAL", new String(script, ISO_8859_1), List.of(keys), List.of(args)));
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    times++;
    return timeAnswer == null
        ? CompletableFuture.completedFuture(serverMicros.getAsLong())
        : timeAnswer.apply(key);
  }

  @Override
  public Object nodeOf(byte[] key) {
    return nodes.apply(key);
  }

  @Override
  public boolean shardedChannels() {
    return sharded;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    channels.add(new String(channel, ISO_8859_1));
    return new HintSubscription() {
      @Override
      public CompletionStage<Boolean> ready() {
        return CompletableFuture.completedFuture(true);
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    closes++;
  }
}
