/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Serves all subscriptions of a process to channels of a cluster. Thread-safe; callbacks run on
 * Lettuce's threads and on the timer's.
 */
final class ClusterHints {
  /*
   * From version 7 on a channel belongs to the slot of its name, as a key does, and only its shard
   * carries the messages: one HintChannels, and so one connection, for each master on whose slots
   * somebody waits. Before, any node broadcasts to all: one HintChannels in all.
   *
   * A Wait joins its channel at the master of the slot. When the slot moves (the server ends the
   * subscription), when the node can't be reached, or when the topology names another master, it
   * joins again there, and then tells its listener, since messages may have been missed. Meanwhile
   * polls carry whoever waits. A Wait that is told that its user may not have the channel stays out.
   */
  private static final byte[] NOTHING = {};
  private static final long PAUSE_MIN_NANOS = 20_000_000;
  private static final long PAUSE_MAX_NANOS = 1_000_000_000;

  private final Environment environment;
  private final Secrets secrets;
  private final long readyNanos;
  private final RedisClusterClient client;
  private final Topology topology;
  private final HintChannels broadcast;
  private final ConcurrentHashMap<String, HintChannels> shards = new ConcurrentHashMap<>();
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();

  private @Nullable CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>>
      shared; // guarded by lock

  private volatile boolean sharded;
  private volatile boolean closed;

  ClusterHints(
      Environment environment,
      Secrets secrets,
      long readyNanos,
      RedisClusterClient client,
      Topology topology) {
    this.environment = environment;
    this.secrets = secrets;
    this.readyNanos = readyNanos;
    this.client = client;
    this.topology = topology;
    this.broadcast =
        new HintChannels(
            HintChannels.Kind.PLAIN,
            environment,
            "any node of the cluster",
            secrets,
            readyNanos,
            () -> client.connectPubSubAsync(ByteArrayCodec.INSTANCE).thenApply(any -> any));
  }

  /** Says which channels the servers have. Called before the first subscription. */
  void sharded(boolean known) {
    sharded = known;
  }

  boolean sharded() {
    return sharded;
  }

  HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    if (!sharded) {
      return broadcast.subscribe(channel, onMessage);
    }
    Wait wait = new Wait(channel.clone(), onMessage);
    waits.add(wait);
    wait.join();
    if (closed) {
      wait.close();
    }
    wait.expectReady();
    return wait;
  }

  /** Subscribes to what any node broadcasts to all. */
  HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return broadcast.subscribe(channel, onMessage);
  }

  /** Moves subscriptions to where their slots are now. */
  void topologyChanged() {
    Set<String> members = topology.names();
    shards.forEach(
        (name, channels) -> {
          if (!members.contains(name) && shards.remove(name, channels)) {
            channels.close();
          }
        });
    waits.forEach(Wait::follow);
  }

  /** How many subscriptions are open. */
  int size() {
    return waits.size() + broadcast.size();
  }

  /** How many masters have been asked for hints. */
  int shards() {
    return shards.size();
  }

  private HintChannels channels(RedisClusterNode master) {
    String host = master.getUri().getHost();
    int port = master.getUri().getPort();
    return shards.computeIfAbsent(
        RedisUriText.address(host, port),
        name ->
            new HintChannels(
                HintChannels.Kind.SHARDED,
                environment,
                name,
                secrets,
                readyNanos,
                () -> connect(host, port)));
  }

  /** Lettuce makes connections to certain nodes only through one to any of them. */
  private CompletionStage<StatefulRedisPubSubConnection<byte[], byte[]>> connect(
      String host, int port) {
    CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> any;
    lock.lock();
    try {
      any = shared;
      if (any == null || any.isCompletedExceptionally()) {
        any = client.connectPubSubAsync(ByteArrayCodec.INSTANCE);
        shared = any;
      }
    } finally {
      lock.unlock();
    }
    return any.thenCompose(
        connected -> {
          if (closed) {
            CompletableFuture<?> unused = connected.closeAsync();
          }
          return connected.getConnectionAsync(host, port);
        });
  }

  /** Ends all subscriptions, without blocking. */
  CompletionStage<Void> close() {
    closed = true;
    List<CompletableFuture<?>> ends = new ArrayList<>();
    waits.forEach(Wait::close);
    ends.add(broadcast.close().toCompletableFuture());
    for (HintChannels channels : shards.values()) {
      ends.add(channels.close().toCompletableFuture());
    }
    CompletableFuture<StatefulRedisClusterPubSubConnection<byte[], byte[]>> any;
    lock.lock();
    try {
      any = shared;
    } finally {
      lock.unlock();
    }
    if (any != null && any.isDone() && !any.isCompletedExceptionally()) {
      ends.add(any.join().closeAsync());
    }
    return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
  }

  /** Somebody's wish for hints, wherever the channel is. */
  private final class Wait implements HintSubscription {
    private final byte[] channel;
    private final int slot;
    private final Consumer<byte[]> onMessage;
    private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
    private final ReentrantLock own = new ReentrantLock();

    // Under the lock.
    private long joins;
    private @Nullable String at;
    private @Nullable HintSubscription current;
    private boolean over;
    private long pauseNanos = PAUSE_MIN_NANOS;

    Wait(byte[] channel, Consumer<byte[]> onMessage) {
      this.channel = channel;
      this.slot = SlotHash.getSlot(channel);
      this.onMessage = onMessage;
    }

    void expectReady() {
      if (!ready.isDone()) {
        Environment.Timer timer = environment.schedule(() -> ready.complete(false), readyNanos);
        CompletableFuture<?> unused = ready.whenComplete((known, never) -> timer.cancel());
      }
    }

    void join() {
      RedisClusterNode master = topology.master(slot);
      long join;
      own.lock();
      try {
        if (over) {
          return;
        }
        join = ++joins;
        at = master == null ? null : RedisUris.address(master.getUri());
        current = null;
      } finally {
        own.unlock();
      }
      if (master == null) {
        joinLater(join);
        return;
      }
      HintSubscription joined =
          channels(master)
              .subscribe(
                  channel,
                  new HintChannels.Listener() {
                    @Override
                    public void message(byte[] message) {
                      onMessage.accept(message);
                    }

                    @Override
                    public void lost(boolean refused) {
                      left(join, refused);
                    }
                  });
      boolean late;
      own.lock();
      try {
        late = over || join != joins;
        if (!late) {
          current = joined;
        }
      } finally {
        own.unlock();
      }
      if (late) {
        joined.close();
        return;
      }
      joined.ready().whenComplete((yes, never) -> joined(join, Boolean.TRUE.equals(yes)));
    }

    private void joined(long join, boolean yes) {
      if (!yes) {
        return;
      }
      own.lock();
      try {
        if (over || join != joins) {
          return;
        }
        pauseNanos = PAUSE_MIN_NANOS;
      } finally {
        own.unlock();
      }
      if (!ready.complete(true)) {
        onMessage.accept(NOTHING);
      }
    }

    private void left(long join, boolean refused) {
      own.lock();
      try {
        if (over || join != joins) {
          return;
        }
        current = null;
        over = refused;
      } finally {
        own.unlock();
      }
      if (refused) {
        waits.remove(this);
        ready.complete(false);
      } else {
        topology.refresh();
        joinLater(join);
      }
    }

    private void joinLater(long join) {
      long pause;
      own.lock();
      try {
        pause = pauseNanos;
        pauseNanos = Math.min(2 * pauseNanos, PAUSE_MAX_NANOS);
      } finally {
        own.unlock();
      }
      try {
        environment.schedule(
            () -> {
              if (isLast(join)) {
                join();
              }
            },
            pause);
      } catch (RejectedExecutionException e) {
        // The environment is closing, and so is the store.
        ready.complete(false);
      }
    }

    private boolean isLast(long join) {
      own.lock();
      try {
        return !over && join == joins;
      } finally {
        own.unlock();
      }
    }

    /** Joins elsewhere if the slot has another master now. */
    void follow() {
      RedisClusterNode master = topology.master(slot);
      if (master == null) {
        return;
      }
      HintSubscription before;
      own.lock();
      try {
        if (over || current == null || RedisUris.address(master.getUri()).equals(at)) {
          return;
        }
        before = current;
        current = null;
        joins++;
      } finally {
        own.unlock();
      }
      before.close();
      join();
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready;
    }

    @Override
    public void close() {
      HintSubscription last;
      own.lock();
      try {
        over = true;
        last = current;
        current = null;
      } finally {
        own.unlock();
      }
      waits.remove(this);
      if (last != null) {
        last.close();
      }
      ready.complete(false);
    }
  }
}
