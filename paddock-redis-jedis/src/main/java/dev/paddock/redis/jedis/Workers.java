/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.spi.Environment;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that block in the place of those who must not: bounded in number and in what waits
 * for them, and gone when there was nothing to do for a while. Thread-safe.
 */
final class Workers {
  private static final long IDLE_SECONDS = 10;

  private final ThreadPoolExecutor threads;

  /** A thread that must not wait for the others, or itself, to end. */
  private static final class Worker extends Thread {
    Worker(Runnable task, String name) {
      super(task, name);
      setDaemon(true);
    }
  }

  /**
   * Starts no thread yet.
   *
   * @param threadsMax how many threads there may be
   */
  Workers(int threadsMax) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            threadsMax,
            threadsMax,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> new Worker(task, "paddock-jedis-" + number.incrementAndGet()));
    threads.allowCoreThreadTimeOut(true);
  }

  /** Tells whether a thread is one of those that workers have. */
  static boolean isOne(Thread thread) {
    return thread instanceof Worker;
  }

  /**
   * Runs a task on one of the threads; false if they are closed. Whoever asks bounds the number.
   */
  boolean run(Runnable task) {
    try {
      threads.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Runs a task on one of the threads after a pause; false if they, or the timers, are closed. */
  boolean runLater(Environment environment, Runnable task, long nanos) {
    try {
      environment.schedule(() -> run(task), nanos);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Takes no more tasks, and returns those that have not begun. */
  List<Runnable> close() {
    return threads.shutdownNow();
  }

  /** Waits for the threads to end, within reason. */
  boolean awaitEnd(long millis) throws InterruptedException {
    return threads.awaitTermination(millis, TimeUnit.MILLISECONDS);
  }
}
