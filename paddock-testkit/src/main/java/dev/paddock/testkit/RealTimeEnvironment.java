/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.Environment;
import java.security.SecureRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The JVM's own clocks and randomness, with one timer thread and an executor of daemon threads: for
 * tests of a store without a Paddock around it.
 *
 * <p>Thread-safe. {@link #close()} ends its threads.
 *
 * @since 0.1.0
 */
public final class RealTimeEnvironment implements Environment {
  private final SecureRandom random = new SecureRandom();
  private final ScheduledThreadPoolExecutor timers =
      new ScheduledThreadPoolExecutor(1, daemons("paddock-test-timer"));
  private final ExecutorService executor =
      Executors.newCachedThreadPool(daemons("paddock-test-worker"));

  private RealTimeEnvironment() {
    timers.setRemoveOnCancelPolicy(true);
    timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Makes an environment; its threads start when they are needed.
   *
   * @return the environment
   */
  public static RealTimeEnvironment create() {
    return new RealTimeEnvironment();
  }

  private static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
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
    requireNonNull(task, "task");
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
