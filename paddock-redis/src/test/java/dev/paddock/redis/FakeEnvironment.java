/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.Environment;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** Virtual time on one thread: timers run while time is advanced. */
final class FakeEnvironment implements Environment {
  private final PriorityQueue<Scheduled> timers =
      new PriorityQueue<>(
          Comparator.<Scheduled>comparingLong(timer -> timer.at).thenComparingLong(t -> t.number));
  private long nanos = -123_456_789_012_345L;
  private long number;
  int scheduled;
  boolean refuseTimers;

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public long wallMillis() {
    return 0;
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    if (refuseTimers) {
      throw new RejectedExecutionException("closing");
    }
    Scheduled timer = new Scheduled(task, nanos + Math.max(0, delayNanos), number++);
    timers.add(timer);
    scheduled++;
    return () -> timers.remove(timer);
  }

  @Override
  public Executor executor() {
    throw new AssertionError("the store needs no executor");
  }

  @Override
  public long randomLong() {
    return 1;
  }

  @Override
  public void close() {}

  int pendingTimers() {
    return timers.size();
  }

  void advanceMillis(long millis) {
    advanceNanos(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  void advanceNanos(long delta) {
    long end = nanos + delta;
    for (Scheduled next = timers.peek(); next != null && next.at <= end; next = timers.peek()) {
      timers.remove(next);
      nanos = next.at;
      next.task.run();
    }
    nanos = end;
  }

  private record Scheduled(Runnable task, long at, long number) {}
}
