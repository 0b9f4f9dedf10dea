/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.spi.Environment;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Told when a key goes, until it is closed. jetcd resumes a watch by itself when a connection is
 * lost; one that it gives up (compacted revision, no leader) is made anew.
 *
 * <p>jetcd calls listeners under its own lock, so everything is handed to the executor.
 */
final class KeyWatch {
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What happens to a watch. Runs on the executor, must not block or throw. */
  interface Listener {
    /**
     * The watch stands.
     *
     * @param again true if it stood before: what happened in between may have been missed
     */
    void onReady(boolean again);

    /** The key was deleted, or its etcd lease ran out. */
    void onGone();

    /** The stream is broken, or was refused. */
    void onBroken();
  }

  private final Watch client;
  private final Environment environment;
  private final ByteSequence key;
  private final Listener listener;
  private final AtomicBoolean stoodBefore = new AtomicBoolean();
  private final ReentrantLock lock = new ReentrantLock();
  private boolean closed;
  private Watch.@Nullable Watcher watcher;
  private Environment.@Nullable Timer again;

  KeyWatch(Watch client, Environment environment, ByteSequence key, Listener listener) {
    this.client = client;
    this.environment = environment;
    this.key = key;
    this.listener = listener;
  }

  /**
   * Starts to watch.
   *
   * @param revision from which on; 0 for from now on
   */
  void start(long revision) {
    Incarnation incarnation = new Incarnation();
    Watch.Watcher made;
    try {
      made =
          client.watch(
              key,
              WatchOption.builder()
                  .withRevision(revision)
                  .withNoPut(true)
                  .withCreateNotify(true)
                  .withRequireLeader(true)
                  .build(),
              incarnation);
    } catch (RuntimeException e) {
      incarnation.onError(e);
      incarnation.onCompleted();
      return;
    }
    lock.lock();
    try {
      if (!closed) {
        watcher = made;
        return;
      }
    } finally {
      lock.unlock();
    }
    made.close();
  }

  /** Ends the watch; nothing is told afterwards but what is under way. Idempotent. */
  void close() {
    Watch.Watcher open;
    lock.lock();
    try {
      closed = true;
      open = watcher;
      watcher = null;
      if (again != null) {
        again.cancel();
        again = null;
      }
    } finally {
      lock.unlock();
    }
    if (open != null) {
      open.close();
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

  private void tell(Runnable what) {
    try {
      environment
          .executor()
          .execute(
              () -> {
                if (!isClosed()) {
                  what.run();
                }
              });
    } catch (RejectedExecutionException e) {
      // Shut down: nobody is left to be told.
      return;
    }
  }

  private void startAgain() {
    Watch.Watcher old;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      old = watcher;
      watcher = null;
      again = environment.schedule(() -> start(0), AGAIN_NANOS);
    } catch (RejectedExecutionException e) {
      return;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.close();
    }
  }

  /** One watch of jetcd's. */
  private final class Incarnation implements Watch.Listener {
    private final AtomicBoolean over = new AtomicBoolean();

    @Override
    public void onNext(WatchResponse response) {
      if (response.isCreatedNotify()) {
        boolean again = stoodBefore.getAndSet(true);
        tell(() -> listener.onReady(again));
      }
      for (WatchEvent event : response.getEvents()) {
        if (event.getEventType() == WatchEvent.EventType.DELETE) {
          tell(listener::onGone);
        }
      }
    }

    @Override
    public void onError(Throwable error) {
      tell(listener::onBroken);
    }

    @Override
    public void onCompleted() {
      if (over.compareAndSet(false, true)) {
        tell(KeyWatch.this::startAgain);
      }
    }
  }
}
