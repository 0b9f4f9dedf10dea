/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.spi.HintSubscription;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Told when a node goes, until it is closed. A watch fires once and is then set again; what happens
 * in between shows in the answer to that. The client itself sets it again when a connection comes
 * back, but not in a new session.
 */
final class NodeHints implements HintSubscription {
  private final Sessions sessions;
  private final String path;
  private final Runnable onHint;
  private final Runnable onClose;
  private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
  private final Watcher watcher = this::onEvent;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean closed;
  private @Nullable Session watched;

  NodeHints(Sessions sessions, String path, Runnable onHint, Runnable onClose) {
    this.sessions = sessions;
    this.path = path;
    this.onHint = onHint;
    this.onClose = onClose;
  }

  /** Sets the watch if the session of now has none of it. */
  @SuppressWarnings("ReferenceEquality") // one object for each session
  void start() {
    Session session = sessions.now();
    lock.lock();
    try {
      if (closed || session == null || watched == session) {
        return;
      }
      watched = session;
    } finally {
      lock.unlock();
    }
    set(session);
  }

  private void set(Session session) {
    CompletionStage<?> setting = session.watch(path, watcher);
    setting.whenComplete(
        (stat, error) -> {
          if (error == null) {
            onSet(false);
          } else if (Failures.is(error, KeeperException.Code.NONODE)) {
            onSet(true);
          } else {
            lock.lock();
            try {
              // Set again when the connection comes back.
              watched = null;
            } finally {
              lock.unlock();
            }
            ready.complete(false);
          }
        });
  }

  private void onSet(boolean free) {
    if (!ready.complete(true) && free && !isClosed()) {
      onHint.run();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private void onEvent(WatchedEvent event) {
    Session session;
    lock.lock();
    try {
      session = watched;
      if (closed || session == null || event.getType() == Watcher.Event.EventType.None) {
        return;
      }
    } finally {
      lock.unlock();
    }
    if (event.getType() == Watcher.Event.EventType.NodeDeleted) {
      onHint.run();
    }
    set(session);
  }

  @Override
  public CompletionStage<Boolean> ready() {
    return ready;
  }

  @Override
  public void close() {
    Session session;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      session = watched;
    } finally {
      lock.unlock();
    }
    ready.complete(false);
    onClose.run();
    if (session != null) {
      session.unwatch(path, watcher);
    }
  }
}
