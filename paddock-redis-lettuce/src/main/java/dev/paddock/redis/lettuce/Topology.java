/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * Who is master of which slot, as Lettuce's client knows it, and the wish to know better.
 * Thread-safe.
 */
final class Topology {
  /*
   * refresh() is called for each sign of a change, perhaps thousands of times in a second, and reads
   * the topology once. While that goes on, and for a pause after it, further calls are remembered
   * and make for one more reading.
   */
  private static final System.Logger log = System.getLogger(Topology.class.getPackageName());
  private static final long PAUSE_MIN_NANOS = 100_000_000;
  private static final long PAUSE_SPREAD_NANOS = 100_000_000;

  private final Environment environment;
  private final RedisClusterClient client;
  private final Secrets secrets;
  private final Runnable refreshed;
  private final AtomicBoolean refreshing = new AtomicBoolean();
  private final AtomicBoolean again = new AtomicBoolean();
  private final Disposable changes;
  private volatile CompletionStage<?> reading = CompletableFuture.completedFuture(null);
  private volatile boolean closed;

  /**
   * Uses the topology of a client that has connected.
   *
   * @param refreshed runs after each reading, also one that failed, on Lettuce's thread
   */
  Topology(
      Environment environment, RedisClusterClient client, Secrets secrets, Runnable refreshed) {
    this.environment = environment;
    this.client = client;
    this.secrets = secrets;
    this.refreshed = refreshed;
    // Lettuce reads the topology by itself, too. It tells before it has taken over what it read.
    this.changes =
        client
            .getResources()
            .eventBus()
            .get()
            .filter(ClusterTopologyChangedEvent.class::isInstance)
            .subscribe(event -> refresh());
  }

  /** Returns the master of a slot, null if none is known. */
  @Nullable RedisClusterNode master(int slot) {
    return client.getPartitions().getMasterBySlot(slot);
  }

  /** Returns host and port of all nodes. */
  Set<String> names() {
    Set<String> names = new HashSet<>();
    for (RedisClusterNode node : client.getPartitions()) {
      names.add(RedisUris.address(node.getUri()));
    }
    return names;
  }

  /** Returns host and port of the nodes that have slots. */
  Set<String> masters() {
    Set<String> names = new HashSet<>();
    for (RedisClusterNode node : client.getPartitions()) {
      if (node.getRole().isUpstream() && !node.getSlots().isEmpty()) {
        names.add(RedisUris.address(node.getUri()));
      }
    }
    return names;
  }

  /** Something has changed, it seems. Never blocks. */
  void refresh() {
    if (closed) {
      return;
    }
    if (!refreshing.compareAndSet(false, true)) {
      again.set(true);
      return;
    }
    try {
      // An application's client may resolve host names on the thread that asks it.
      environment.executor().execute(this::read);
    } catch (RejectedExecutionException e) {
      refreshing.set(false);
    }
  }

  private void read() {
    again.set(false);
    if (closed) {
      // Asked for before, and only now on a thread.
      return;
    }
    try {
      CompletionStage<Void> started = client.refreshPartitionsAsync();
      reading = started;
      started.whenComplete((nothing, failed) -> read(failed));
    } catch (RuntimeException e) {
      read(e);
    }
  }

  private void read(@Nullable Throwable failed) {
    if (failed != null) {
      log.log(
          System.Logger.Level.DEBUG,
          () -> "the topology of the cluster can't be read: " + secrets.summary(failed));
    }
    refreshed.run();
    long pause = PAUSE_MIN_NANOS + Math.floorMod(environment.randomLong(), PAUSE_SPREAD_NANOS);
    try {
      environment.schedule(this::next, pause);
    } catch (RejectedExecutionException e) {
      refreshing.set(false);
    }
  }

  private void next() {
    refreshing.set(false);
    if (again.get()) {
      refresh();
    }
  }

  /** Reads no more; completes, never exceptionally, when the last reading has ended. */
  CompletionStage<Void> close() {
    closed = true;
    changes.dispose();
    return reading.handle((nothing, failed) -> null);
  }
}
