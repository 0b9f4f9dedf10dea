/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** What is allowed though it looks like what is not: no rule may report it. */
public final class GoodExample {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition condition = lock.newCondition();

  CompletableFuture<String> async(Executor executor) {
    return CompletableFuture.supplyAsync(() -> "", executor)
        .thenApplyAsync(s -> s, executor)
        .thenApply(s -> s);
  }

  void waits() throws InterruptedException {
    lock.lock();
    try {
      while (!Thread.currentThread().isInterrupted()) {
        condition.await();
      }
      condition.signalAll();
    } finally {
      lock.unlock();
    }
  }

  Object gets(Future<?> future) throws Exception {
    return future.get();
  }

  void logs() {
    LOGGER.log(System.Logger.Level.DEBUG, "x");
  }

  List<Object> collects() {
    List<Object> all = new ArrayList<>(List.of(1, 2));
    all.addAll(List.copyOf(all));
    all.add(EnumSet.of(TimeUnit.DAYS));
    all.add(Map.entry("a", "b"));
    all.add(new LinkedHashMap<>());
    return all;
  }

  @SuppressWarnings("JavaUtilDate") // A given point in time, no clock is read.
  List<Object> converts(long millis) {
    return List.of(
        TimeUnit.MILLISECONDS.toNanos(millis),
        Duration.ofMillis(millis),
        Instant.ofEpochMilli(millis),
        new Date(millis),
        new UUID(1, 2),
        TimeUnit.SECONDS.convert(1, TimeUnit.DAYS));
  }
}
