/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.spi.Environment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs a task on a worker when somebody wishes it, perhaps thousands of times in a second, but not
 * twice at a time and with a pause in between. A wish during the run or the pause makes for one
 * more run. Thread-safe.
 */
final class Refresh {
  private static final long PAUSE_MIN_NANOS = 100_000_000;
  private static final long PAUSE_SPREAD_NANOS = 100_000_000;

  private final Environment environment;
  private final Workers workers;
  private final Runnable task;
  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicBoolean again = new AtomicBoolean();

  /**
   * Runs nothing yet.
   *
   * @param task may block; what it throws is lost
   */
  Refresh(Environment environment, Workers workers, Runnable task) {
    this.environment = environment;
    this.workers = workers;
    this.task = task;
  }

  /** Wishes for a run. Never blocks. */
  void wish() {
    if (!busy.compareAndSet(false, true)) {
      again.set(true);
    } else if (!workers.run(this::run)) {
      busy.set(false);
    }
  }

  private void run() {
    again.set(false);
    try {
      task.run();
    } finally {
      long pause = PAUSE_MIN_NANOS + Math.floorMod(environment.randomLong(), PAUSE_SPREAD_NANOS);
      if (!workers.runLater(environment, this::next, pause)) {
        busy.set(false);
      }
    }
  }

  private void next() {
    busy.set(false);
    if (again.get()) {
      wish();
    }
  }
}
