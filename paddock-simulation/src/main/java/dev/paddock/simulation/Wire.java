/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.HintSubscription;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A process's connection to a server. What comes back is a step of the process: if it is stopped,
 * the reply waits; the network and the server go on without it.
 */
final class Wire implements RedisTransport {
  private final Machine machine;
  private final RedisTransport raw;

  Wire(Machine machine, RedisTransport raw) {
    this.machine = machine;
    this.raw = raw;
  }

  private <T extends @Nullable Object> CompletionStage<T> received(CompletionStage<T> stage) {
    CompletableFuture<T> future = new CompletableFuture<>();
    stage.whenComplete(
        (value, error) ->
            machine.receive(
                () -> {
                  if (error == null) {
                    future.complete(value);
                  } else {
                    future.completeExceptionally(error);
                  }
                }));
    return future.minimalCompletionStage();
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return received(raw.get(key));
  }

  @Override
  public List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    List<CompletionStage<byte @Nullable []>> all = new ArrayList<>();
    raw.getAll(keys).forEach(each -> all.add(received(each)));
    return all;
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return received(raw.evalsha(sha1, keys, args));
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return received(raw.eval(script, keys, args));
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return received(raw.timeMicros(key));
  }

  @Override
  public Object nodeOf(byte[] key) {
    return raw.nodeOf(key);
  }

  @Override
  public boolean shardedChannels() {
    return raw.shardedChannels();
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    HintSubscription subscription =
        raw.subscribe(channel, message -> machine.receive(() -> onMessage.accept(message)));
    CompletionStage<Boolean> ready = received(subscription.ready());
    return new HintSubscription() {
      @Override
      public CompletionStage<Boolean> ready() {
        return ready;
      }

      @Override
      public void close() {
        subscription.close();
      }
    };
  }

  @Override
  public void close() {
    raw.close();
  }
}
