/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.Environment;
import java.security.SecureRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The JVM's own clocks, threads and randomness. The one place in core that touches them. */
public final class SystemEnvironment implements Environment {
  private final SecureRandom random = new SecureRandom();
  private final ScheduledThreadPoolExecutor timers;
  private final ExecutorService executor;

  private SystemEnvironment(ScheduledThreadPoolExecutor timers, ExecutorService executor) {
    this.timers = timers;
    this.executor = executor;
  }

  /**
   * Starts a timer thread and an executor: of virtual threads where the JVM has them, else of
   * daemon threads that end after a minute without work.
   *
   * @return the environment
   */
  public static SystemEnvironment create() {
    ScheduledThreadPoolExecutor timers =
        new ScheduledThreadPoolExecutor(1, daemons("paddock-timer"));
    timers.setRemoveOnCancelPolicy(true);
    timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return new SystemEnvironment(timers, newExecutor());
  }

  private static ExecutorService newExecutor() {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      // Java 17 to 20: no virtual threads.
      return Executors.newCachedThreadPool(daemons("paddock-worker"));
    }
  }

  private static ThreadFactory daemons(String name) {
    AtomicLong count = new AtomicLong();
    return task -> {
      Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    Future<?> future = timers.schedule(task, Math.max(0, delayNanos), TimeUnit.NANOSECONDS);
    return () -> future.cancel(false);
  }

  @Override
  public Executor executor() {
    return executor;
  }

  @Override
  public long randomLong() {
    return random.nextLong();
  }

  @Override
  public void close() {
    timers.shutdown();
    executor.shutdown();
  }
}
