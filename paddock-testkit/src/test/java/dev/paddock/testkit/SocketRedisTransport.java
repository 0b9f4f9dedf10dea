/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A transport as plain as can be, so that the suite meets real servers without a client library in
 * between: one command at a time, on a thread of its own; no reconnect.
 */
final class SocketRedisTransport implements RedisTransport {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final RedisCommands commands;
  private final RedisCommands hints;
  private final ExecutorService worker;
  private final Thread reader;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<StoreKey, Set<Subscription>> subscriptions = new LinkedHashMap<>();

  SocketRedisTransport(int port) {
    this.commands = RedisCommands.connect(port, LIMIT);
    this.hints = RedisCommands.connect(port, LIMIT);
    this.worker =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread thread = new Thread(task, "socket-transport");
              thread.setDaemon(true);
              return thread;
            });
    this.reader = new Thread(this::readHints, "socket-transport-hints");
    this.reader.setDaemon(true);
    this.reader.start();
  }

  @Override
  public CompletionStage<byte @Nullable []> get(byte[] key) {
    return send(reply -> (byte[]) reply, "GET", key);
  }

  @Override
  public CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args) {
    return send(SocketRedisTransport::bulks, words("EVALSHA", sha1, keys, args));
  }

  @Override
  public CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args) {
    return send(SocketRedisTransport::bulks, words("EVAL", script, keys, args));
  }

  @Override
  public CompletionStage<Long> timeMicros(byte[] key) {
    return send(
        reply -> {
          List<byte[]> parts = bulks(reply);
          return number(parts.get(0)) * 1_000_000 + number(parts.get(1));
        },
        "TIME");
  }

  private static long number(byte[] digits) {
    return Long.parseLong(new String(digits, US_ASCII));
  }

  private static Object[] words(String name, Object script, byte[][] keys, byte[][] args) {
    List<Object> words = new ArrayList<>(List.of(name, script, keys.length));
    words.addAll(List.of(keys));
    words.addAll(List.of(args));
    return words.toArray();
  }

  private static List<byte[]> bulks(@Nullable Object reply) {
    if (reply instanceof byte[] bytes) {
      return List.of(bytes);
    }
    List<byte[]> all = new ArrayList<>();
    for (Object item : (List<?>) requireNonNull(reply, "reply")) {
      all.add((byte[]) item);
    }
    return all;
  }

  private <T extends @Nullable Object> CompletionStage<T> send(
      Function<@Nullable Object, T> decode, Object... words) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      worker.execute(
          () -> {
            try {
              result.complete(decode.apply(commands.command(words)));
            } catch (RedisReplyException | StoreException | ClassCastException e) {
              result.completeExceptionally(e);
            }
          });
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(new StoreException("closed", e, false));
    }
    return result;
  }

  @Override
  public Object nodeOf(byte[] key) {
    return "the one";
  }

  @Override
  public boolean shardedChannels() {
    return false;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    Subscription subscription = new Subscription(StoreKey.of(channel), onMessage);
    lock.lock();
    try {
      subscriptions
          .computeIfAbsent(subscription.channel, c -> new LinkedHashSet<>())
          .add(subscription);
      hints.send("SUBSCRIBE", channel);
    } catch (IOException e) {
      subscription.ready.complete(false);
    } finally {
      lock.unlock();
    }
    return subscription;
  }

  private void readHints() {
    try {
      while (true) {
        dispatch(hints.readPushed());
      }
    } catch (IOException e) {
      complete(null, false);
    }
  }

  private void dispatch(@Nullable Object pushed) {
    if (pushed instanceof RedisReplyException) {
      // Without the channel's name: whoever still waits for an answer got this one.
      complete(null, false);
      return;
    }
    List<?> parts = (List<?>) requireNonNull(pushed, "pushed");
    String kind = new String((byte[]) requireNonNull(parts.get(0)), US_ASCII);
    StoreKey channel = StoreKey.of((byte[]) requireNonNull(parts.get(1)));
    if (kind.equals("subscribe")) {
      complete(channel, true);
    } else if (kind.equals("message")) {
      for (Subscription each : subscribers(channel)) {
        each.onMessage.accept((byte[]) requireNonNull(parts.get(2)));
      }
    }
  }

  private void complete(@Nullable StoreKey channel, boolean ready) {
    List<Subscription> all = new ArrayList<>();
    lock.lock();
    try {
      subscriptions.forEach(
          (name, each) -> {
            if (channel == null || channel.equals(name)) {
              all.addAll(each);
            }
          });
    } finally {
      lock.unlock();
    }
    all.forEach(each -> each.ready.complete(ready));
  }

  private List<Subscription> subscribers(StoreKey channel) {
    lock.lock();
    try {
      return List.copyOf(subscriptions.getOrDefault(channel, Set.of()));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    worker.shutdownNow();
    commands.close();
    hints.close();
  }

  private final class Subscription implements HintSubscription {
    private final StoreKey channel;
    private final Consumer<byte[]> onMessage;
    private final CompletableFuture<Boolean> ready = new CompletableFuture<>();

    Subscription(StoreKey channel, Consumer<byte[]> onMessage) {
      this.channel = channel;
      this.onMessage = onMessage;
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready;
    }

    @Override
    public void close() {
      lock.lock();
      try {
        Set<Subscription> all = subscriptions.get(channel);
        if (all != null && all.remove(this) && all.isEmpty()) {
          subscriptions.remove(channel);
          hints.send("UNSUBSCRIBE", channel.bytes());
        }
      } catch (IOException e) {
        // The connection is gone, and the subscription with it.
        return;
      } finally {
        lock.unlock();
      }
    }
  }
}
