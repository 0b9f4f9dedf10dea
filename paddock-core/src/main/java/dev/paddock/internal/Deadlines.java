/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.Environment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Deadlines that all lie the same time ahead, so that they end in the order in which they began: a
 * command that is answered in time costs a queue entry, not a timer.
 *
 * <p>Each key has its place in one of a few queues, each with a lock and a timer, so that threads
 * which read different keys rarely meet.
 */
final class Deadlines {
  /** A power of two. */
  private static final int QUEUES = 16;

  private final Environment env;
  private final long timeoutNanos;
  private final Queue[] queues = new Queue[QUEUES];

  Deadlines(Environment env, long timeoutNanos) {
    this.env = env;
    this.timeoutNanos = timeoutNanos;
    for (int i = 0; i < QUEUES; i++) {
      queues[i] = new Queue();
    }
  }

  /**
   * One deadline: either {@link #finish} or the end of its time gets it, never both. It stays in
   * its queue until its time is up or those before it are over, so it should hold on to little
   * then.
   */
  abstract static class Deadline {
    private static final AtomicIntegerFieldUpdater<Deadline> OVER =
        AtomicIntegerFieldUpdater.newUpdater(Deadline.class, "over");

    private long atNanos;
    private volatile int over;

    /** Its time is up. */
    abstract void expired();

    /** Ends it; false if its time was up before. */
    final boolean finish() {
      return OVER.compareAndSet(this, 0, 1);
    }

    private boolean isOver() {
      return over != 0;
    }

    private void expire() {
      if (finish()) {
        expired();
      }
    }
  }

  void start(Object key, Deadline deadline) {
    deadline.atNanos = env.nanoTime() + timeoutNanos;
    int hash = key.hashCode();
    queues[(hash ^ (hash >>> 16)) & (QUEUES - 1)].add(deadline);
  }

  /** Ends all of them now, as if their time were up. */
  void expireAll() {
    for (Queue queue : queues) {
      queue.expireAll();
    }
  }

  private final class Queue {
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Deadline> waiting = new ArrayDeque<>();
    private boolean armed;

    void add(Deadline deadline) {
      boolean arm = false;
      lock.lock();
      try {
        while (!waiting.isEmpty() && waiting.peek().isOver()) {
          waiting.poll();
        }
        waiting.add(deadline);
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
    }

    private void tick() {
      List<Deadline> due = new ArrayList<>();
      long now = env.nanoTime();
      long next = -1;
      lock.lock();
      try {
        for (Deadline head = waiting.peek(); head != null; head = waiting.peek()) {
          if (!head.isOver()) {
            if (head.atNanos - now > 0) {
              next = head.atNanos - now;
              break;
            }
            due.add(head);
          }
          waiting.poll();
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

    void expireAll() {
      List<Deadline> all;
      lock.lock();
      try {
        all = new ArrayList<>(waiting);
        waiting.clear();
      } finally {
        lock.unlock();
      }
      all.forEach(Deadline::expire);
    }
  }
}
