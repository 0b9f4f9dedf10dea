/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.spi.Environment;
import dev.paddock.spi.LossWatch;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One of this store's own leases, from the request to the release. */
final class Acquisition {
  /*
   * ASKING -> HELD -> ENDING, or ASKING -> ENDING, which is final: whatever is answered later, the lease
   * is not held or extended any more.
   *
   * The node outlives its holder's lease time, so a timer of this store ends it. The timer runs from
   * when an answer has come; the holder counts from before the request, so it never sees the lease freed
   * before its own time is over.
   */
  private final String name;
  private final String owner;
  private final Session session;
  private final Environment environment;
  private final Runnable onTimeOver;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Consumer<LossWatch.Signal>> watchers = new ArrayList<>();
  private boolean held;
  private boolean ending;
  private long token;
  private long endNanos;
  private Environment.@Nullable Timer timer;
  private @Nullable CompletableFuture<Boolean> release;

  Acquisition(
      String name,
      String owner,
      Session session,
      Environment environment,
      Consumer<Acquisition> onTimeOver) {
    this.name = name;
    this.owner = owner;
    this.session = session;
    this.environment = environment;
    this.onTimeOver = () -> onTimeOver.accept(this);
  }

  String name() {
    return name;
  }

  String owner() {
    return owner;
  }

  Session session() {
    return session;
  }

  long token() {
    lock.lock();
    try {
      return token;
    } finally {
      lock.unlock();
    }
  }

  /** The node is there; false if it is not wanted any more. */
  boolean hold(long createdBy, long leaseMillis) {
    lock.lock();
    try {
      if (ending) {
        return false;
      }
      held = true;
      token = createdBy;
      endNanos = environment.nanoTime() + leaseMillis * 1_000_000L;
      arm();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The node is still there; false if its time was over. Never shortens. */
  boolean extend(long leaseMillis) {
    lock.lock();
    try {
      if (ending) {
        return false;
      }
      long end = environment.nanoTime() + leaseMillis * 1_000_000L;
      if (end - endNanos > 0) {
        endNanos = end;
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void arm() {
    try {
      timer = environment.schedule(this::onTimer, endNanos - environment.nanoTime());
    } catch (RejectedExecutionException e) {
      // Shut down; who closes the store sees to what is held.
      timer = null;
    }
  }

  private void onTimer() {
    lock.lock();
    try {
      if (ending) {
        return;
      }
      if (endNanos - environment.nanoTime() > 0) {
        arm();
        return;
      }
      ending = true;
    } finally {
      lock.unlock();
    }
    onTimeOver.run();
  }

  /** From now on it is neither held nor extended. */
  void end() {
    lock.lock();
    try {
      ending = true;
      if (timer != null) {
        timer.cancel();
        timer = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns how long it lasts here; 0 if it is not held or has ended. */
  long leftNanos() {
    lock.lock();
    try {
      return held && !ending ? Math.max(0, endNanos - environment.nanoTime()) : 0;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the release that is under way, or takes the one given. Two at once would be dangerous:
   * the second could read the node before the first has deleted it, and then delete the next
   * holder's.
   */
  CompletableFuture<Boolean> releasing(CompletableFuture<Boolean> mine) {
    lock.lock();
    try {
      if (release == null || release.isCompletedExceptionally()) {
        release = mine;
      }
      return release;
    } finally {
      lock.unlock();
    }
  }

  void addWatcher(Consumer<LossWatch.Signal> watcher) {
    lock.lock();
    try {
      watchers.add(watcher);
    } finally {
      lock.unlock();
    }
  }

  void removeWatcher(Consumer<LossWatch.Signal> watcher) {
    lock.lock();
    try {
      watchers.remove(watcher);
    } finally {
      lock.unlock();
    }
  }

  /** Tells who watches. */
  void tell(LossWatch.Signal signal) {
    List<Consumer<LossWatch.Signal>> told;
    lock.lock();
    try {
      told = List.copyOf(watchers);
    } finally {
      lock.unlock();
    }
    told.forEach(watcher -> watcher.accept(signal));
  }
}
