/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** The session of now, kept awake: it says something every eighth of its time-out. */
final class Sessions {
  private static final long LOOK_NANOS = 1_000_000_000L;
  private static final int BEATS = 8;

  private final CuratorFramework client;
  private final Environment environment;
  private final Duration commandTimeout;
  private final String beatPath;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Session current;
  private boolean closed;
  private Environment.@Nullable Timer beat;

  /** When the session of now, if there is one, had surely not begun. */
  private @Nullable Long withoutNanos;

  /**
   * Makes it.
   *
   * @param fresh whether the client was started just now, and not before {@code startNanos}
   */
  Sessions(
      CuratorFramework client,
      Environment environment,
      Duration commandTimeout,
      String beatPath,
      boolean fresh,
      long startNanos) {
    this.client = client;
    this.environment = environment;
    this.commandTimeout = commandTimeout;
    this.beatPath = beatPath;
    this.withoutNanos = fresh ? startNanos : null;
  }

  /** Begins to keep the session awake. */
  void start() {
    beat();
  }

  /** Returns the session; null if there is no connection. Never blocks. */
  @Nullable Session now() {
    ZooKeeper handle = connected();
    lock.lock();
    try {
      if (handle == null) {
        return null;
      }
      if (current == null || !current.isOf(handle)) {
        current = new Session(handle, environment, commandTimeout, heardNanos(handle));
      }
      return current;
    } finally {
      lock.unlock();
    }
  }

  /** A session begins at the leader. One that was there before us has pinged it, as clients do. */
  private long heardNanos(ZooKeeper handle) {
    long timeoutNanos = Duration.ofMillis(handle.getSessionTimeout()).toNanos();
    return withoutNanos == null ? environment.nanoTime() - timeoutNanos / 12 * 7 : withoutNanos;
  }

  private @Nullable ZooKeeper connected() {
    // Asked while there is no connection, Curator might close a handle, which blocks.
    if (client.getState() != CuratorFrameworkState.STARTED
        || !client.getZookeeperClient().isConnected()) {
      return null;
    }
    try {
      ZooKeeper handle = client.getZookeeperClient().getZooKeeper();
      return handle.getState().isConnected() && handle.getSessionId() != 0 ? handle : null;
    } catch (Exception e) {
      // The connection was lost in between.
      return null;
    }
  }

  /** The session was lost; the next one begins later than now. */
  void onLost() {
    lock.lock();
    try {
      withoutNanos = environment.nanoTime();
    } finally {
      lock.unlock();
    }
  }

  private void beat() {
    Session session = now();
    long nextNanos = LOOK_NANOS;
    if (session != null) {
      nextNanos = session.timeout().toNanos() / BEATS;
      var unused = session.read("PING", beatPath);
    }
    lock.lock();
    try {
      if (!closed) {
        beat = environment.schedule(this::beat, nextNanos);
      }
    } catch (RejectedExecutionException e) {
      closed = true;
    } finally {
      lock.unlock();
    }
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      if (beat != null) {
        beat.cancel();
      }
    } finally {
      lock.unlock();
    }
  }
}
