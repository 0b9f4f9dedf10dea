/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Runs tasks one after the other, each on a thread that happened to submit one, without a lock: who
 * submits while another thread is running just leaves the task behind.
 */
final class Serial {
  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();
  private final Consumer<Throwable> onFailure;

  /**
   * Makes a runner.
   *
   * @param onFailure is told, in turn, what a task threw; the tasks after it still run
   */
  Serial(Consumer<Throwable> onFailure) {
    this.onFailure = onFailure;
  }

  void execute(Runnable task) {
    queue.add(task);
    if (pending.getAndIncrement() != 0) {
      return;
    }
    do {
      Runnable next = queue.poll();
      // Each increment follows its add, so there is one.
      assert next != null;
      try {
        next.run();
      } catch (RuntimeException | Error e) {
        onFailure.accept(e);
      }
    } while (pending.decrementAndGet() != 0);
  }
}
