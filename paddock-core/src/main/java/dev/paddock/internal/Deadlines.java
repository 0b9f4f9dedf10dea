/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.Environment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines that all lie the same time ahead, so that they end in the order in which they began:
 * one timer serves them all, and a command that is answered in time costs a queue entry, not a
 * timer.
 */
final class Deadlines {
  private final Environment env;
  private final long timeoutNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Deadline> queue = new ArrayDeque<>();
  private boolean armed;

  Deadlines(Environment env, long timeoutNanos) {
    this.env = env;
    this.timeoutNanos = timeoutNanos;
  }

  /** One deadline: either {@link #finish} or the end of its time gets it, never both. */
  static final class Deadline {
    private final AtomicBoolean over = new AtomicBoolean();
    private final long atNanos;
    private @Nullable Runnable onTimeout;

    private Deadline(long atNanos, Runnable onTimeout) {
      this.atNanos = atNanos;
      this.onTimeout = onTimeout;
    }

    /** Ends it; false if its time was up before. */
    boolean finish() {
      if (!over.compareAndSet(false, true)) {
        return false;
      }
      onTimeout = null;
      return true;
    }

    private void expire() {
      Runnable task = onTimeout;
      if (over.compareAndSet(false, true) && task != null) {
        task.run();
      }
    }
  }

  Deadline start(Runnable onTimeout) {
    Deadline deadline = new Deadline(env.nanoTime() + timeoutNanos, onTimeout);
    boolean arm = false;
    lock.lock();
    try {
      while (!queue.isEmpty() && queue.peek().over.get()) {
        queue.poll();
      }
      queue.add(deadline);
      if (!armed) {
        armed = true;
        arm = true;
      }
    } finally {
      lock.unlock();
    }
    if (arm) {
      env.schedule(this::tick, timeoutNanos);
    }
    return deadline;
  }

  private void tick() {
    List<Deadline> due = new ArrayList<>();
    long now = env.nanoTime();
    long next = -1;
    lock.lock();
    try {
      for (Deadline head = queue.peek(); head != null; head = queue.peek()) {
        if (!head.over.get()) {
          if (head.atNanos - now > 0) {
            next = head.atNanos - now;
            break;
          }
          due.add(head);
        }
        queue.poll();
      }
      armed = next >= 0;
    } finally {
      lock.unlock();
    }
    if (next >= 0) {
      env.schedule(this::tick, next);
    }
    due.forEach(Deadline::expire);
  }

  /** Ends all of them now, as if their time were up. */
  void expireAll() {
    List<Deadline> all;
    lock.lock();
    try {
      all = new ArrayList<>(queue);
      queue.clear();
    } finally {
      lock.unlock();
    }
    all.forEach(Deadline::expire);
  }
}
