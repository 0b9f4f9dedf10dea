/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one after the other, each on a thread that submitted one: state that only turns touch
 * needs no lock. A turn never waits.
 */
final class Turns {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock.redis");

  private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pending = new AtomicInteger();

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
        LOGGER.log(System.Logger.Level.ERROR, "a turn of a quorum's operation failed", e);
      }
    } while (pending.decrementAndGet() != 0);
  }
}
