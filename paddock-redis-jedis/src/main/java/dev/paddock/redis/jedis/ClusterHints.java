/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.util.JedisClusterCRC16;

/** Serves all subscriptions of a process to channels of a cluster. Thread-safe. */
final class ClusterHints {
  /*
   * From version 7 on a channel belongs to the slot of its name, as a key does, and only its shard
   * carries the messages: one HintChannels, and so one connection and one thread, for each master on
   * whose slots somebody waits. Before, any node broadcasts to all, and the master of the slot is as
   * good as any.
   *
   * A Wait joins its channel at the master of the slot. When the slot moves (the server ends the
   * subscription, or sends it elsewhere), or when the slots as they are read name another master, it
   * joins again there, and then tells its listener, since messages may have been missed. Meanwhile
   * polls carry whoever waits.
   */
  private static final byte[] NOTHING = {};
  private static final long PAUSE_MIN_NANOS = 50_000_000;
  private static final long PAUSE_SPREAD_NANOS = 100_000_000;

  private final Environment environment;
  private final Opening opening;
  private final HintChannels.Kind kind;
  private final ClusterRoutes routes;
  private final ConcurrentHashMap<Node, HintChannels> shards = new ConcurrentHashMap<>();
  private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  ClusterHints(Opening opening, boolean sharded, ClusterRoutes routes) {
    this.environment = opening.environment();
    this.opening = opening;
    this.kind = sharded ? HintChannels.Kind.SHARDED : HintChannels.Kind.PLAIN;
    this.routes = routes;
  }

  HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    Wait wait = new Wait(channel.clone(), onMessage);
    waits.add(wait);
    wait.join();
    if (closed) {
      wait.close();
    }
    wait.expectReady();
    return wait;
  }

  /** Moves subscriptions to where their slots are now. */
  void topologyChanged() {
    shards.forEach(
        (node, channels) -> {
          if (!routes.isMaster(node) && shards.remove(node, channels)) {
            channels.close();
          }
        });
    waits.forEach(Wait::follow);
  }

  private HintChannels channels(Node node) {
    HintChannels channels =
        shards.computeIfAbsent(
            node, absent -> opening.hints(kind, node.name(), () -> routes.connect(node)));
    if (closed) {
      channels.close();
    }
    return channels;
  }

  /** How many subscriptions are open. */
  int size() {
    return waits.size();
  }

  private final class Wait implements HintSubscription, HintChannels.Listener {
    private final byte[] channel;
    private final int slot;
    private final Consumer<byte[]> onMessage;
    private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Node at; // guarded by lock
    private @Nullable HintSubscription current; // guarded by lock
    private boolean joinedBefore; // guarded by lock
    private boolean pausing; // guarded by lock
    private boolean ended; // guarded by lock

    Wait(byte[] channel, Consumer<byte[]> onMessage) {
      this.channel = channel;
      this.slot = JedisClusterCRC16.getSlot(channel);
      this.onMessage = onMessage;
    }

    void join() {
      Node master;
      try {
        master = routes.master(slot);
      } catch (StoreException e) {
        moved();
        return;
      }
      HintSubscription joining = channels(master).subscribe(channel, this);
      HintSubscription former;
      boolean again;
      lock.lock();
      try {
        former = ended ? joining : current;
        again = joinedBefore;
        joinedBefore = true;
        if (!ended) {
          current = joining;
          at = master;
        }
      } finally {
        lock.unlock();
      }
      if (former != null) {
        former.close();
      }
      joining
          .ready()
          .thenAccept(
              comes -> {
                if (comes && again) {
                  message(NOTHING);
                }
                if (comes) {
                  ready.complete(true);
                }
              });
    }

    /** Joins elsewhere if the slot has another master than it had. */
    void follow() {
      Node before;
      lock.lock();
      try {
        before = ended ? null : at;
      } finally {
        lock.unlock();
      }
      if (before == null) {
        return;
      }
      try {
        if (routes.master(slot) != before) {
          join();
        }
      } catch (StoreException e) {
        // No master is known; the next reading of the slots comes by here again.
        return;
      }
    }

    @Override
    public void message(byte[] message) {
      onMessage.accept(message);
    }

    @Override
    public void moved() {
      lock.lock();
      try {
        if (ended || pausing) {
          return;
        }
        pausing = true;
      } finally {
        lock.unlock();
      }
      routes.slotsChanged();
      long pause = PAUSE_MIN_NANOS + Math.floorMod(environment.randomLong(), PAUSE_SPREAD_NANOS);
      opening
          .workers()
          .runLater(
              environment,
              () -> {
                lock.lock();
                try {
                  pausing = false;
                  if (ended) {
                    return;
                  }
                } finally {
                  lock.unlock();
                }
                join();
              },
              pause);
    }

    void expectReady() {
      try {
        environment.schedule(
            () -> ready.complete(false), opening.options().commandTimeout().toNanos());
      } catch (RejectedExecutionException e) {
        ready.complete(false);
      }
    }

    @Override
    public CompletionStage<Boolean> ready() {
      return ready;
    }

    @Override
    public void close() {
      HintSubscription last;
      lock.lock();
      try {
        ended = true;
        last = current;
        current = null;
      } finally {
        lock.unlock();
      }
      waits.remove(this);
      if (last != null) {
        last.close();
      }
      ready.complete(false);
    }
  }

  void close() {
    closed = true;
    new ArrayList<>(waits).forEach(Wait::close);
    shards.values().forEach(HintChannels::close);
  }

  /** Waits for the readers to end, within reason. */
  void awaitEnd(long millis) throws InterruptedException {
    for (HintChannels channels : new ArrayList<>(shards.values())) {
      channels.awaitEnd(millis);
    }
  }
}
