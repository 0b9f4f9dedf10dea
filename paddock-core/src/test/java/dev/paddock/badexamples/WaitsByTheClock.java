/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;

// Never run.
@SuppressWarnings({"FutureReturnValueIgnored", "WaitNotInLoop"})
final class WaitsByTheClock {
  void sleep() throws InterruptedException {
    Thread.sleep(1);
  }

  void sleepByUnit() throws InterruptedException {
    TimeUnit.SECONDS.sleep(1);
  }

  void join(Thread thread) throws InterruptedException {
    thread.join(1);
  }

  void parkNanos() {
    LockSupport.parkNanos(this, 1);
  }

  void parkUntil() {
    LockSupport.parkUntil(this, 1);
  }

  long awaitNanos(Condition condition) throws InterruptedException {
    return condition.awaitNanos(1);
  }

  boolean awaitCondition(Condition condition) throws InterruptedException {
    return condition.await(1, TimeUnit.SECONDS);
  }

  boolean awaitLatch(CountDownLatch latch) throws InterruptedException {
    return latch.await(1, TimeUnit.SECONDS);
  }

  boolean tryLock(Lock lock) throws InterruptedException {
    return lock.tryLock(1, TimeUnit.SECONDS);
  }

  Object getFuture(Future<?> future) throws Exception {
    return future.get(1, TimeUnit.SECONDS);
  }

  Object pollQueue(BlockingQueue<?> queue) throws InterruptedException {
    return queue.poll(1, TimeUnit.SECONDS);
  }

  Object schedule(ScheduledExecutorService timers) {
    return timers.schedule(() -> Duration.ZERO, 1, TimeUnit.SECONDS);
  }

  Object orTimeout(CompletableFuture<?> future) {
    return future.orTimeout(1, TimeUnit.SECONDS);
  }

  Object completeOnTimeout(CompletableFuture<String> future) {
    return future.completeOnTimeout("", 1, TimeUnit.SECONDS);
  }

  Executor delayedExecutor() {
    return CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);
  }

  Executor delayedExecutorOnAnother(Executor executor) {
    return CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, executor);
  }
}
