/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.cli.demo.Leaderboard.Post;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The source of truth: an aggregation over all votes that takes its time. Reports the begin and the
 * end of each load at once, so that they are known even if the process is killed.
 */
final class Source {
  /** What a load throws while the aggregation fails. */
  static final class AggregationException extends Exception {
    private static final long serialVersionUID = 1;

    AggregationException() {
      super("the aggregation failed: the votes can't be read");
    }
  }

  private static final List<String> SUBJECTS =
      List.of("Foals", "Fences", "Hay", "Bridles", "Ponds", "Gates", "Barns", "Trails");
  private static final int TOP = 10;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Consumer<Report> reports;
  private final long firstVersion;
  private final Set<Long> held = new HashSet<>();
  private Order.Aggregation terms = new Order.Aggregation(0, false, false, false, false);
  private long lastInvalidationMicros;
  private long loads;

  /**
   * Makes the source of one process.
   *
   * @param process number of the process, from 0
   * @param reports takes the reports
   */
  Source(int process, Consumer<Report> reports) {
    this.reports = reports;
    this.firstVersion = (process + 1) * 1_000_000L;
  }

  void behave(Order.Aggregation aggregation) {
    lock.lock();
    try {
      terms = aggregation;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void letGo(Order.LetGo order) {
    lock.lock();
    try {
      terms =
          new Order.Aggregation(
              terms.loadMillis(), terms.uneven(), false, terms.failing(), terms.outlived());
      held.retainAll(order.butNot());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void invalidationReturned(Order.InvalidationReturned order) {
    lock.lock();
    try {
      lastInvalidationMicros = Math.max(lastInvalidationMicros, order.beganMicros());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes a value without the work and without a report, as what an earlier load left behind.
   *
   * @return the value
   */
  Leaderboard earlier() {
    return leaderboard(nextVersion(), WallClock.micros());
  }

  /**
   * Runs the aggregation.
   *
   * @param cell for which cell
   * @return the value
   * @throws AggregationException if it is set to fail
   * @throws InterruptedException if the thread was interrupted
   */
  Leaderboard load(Cell cell) throws AggregationException, InterruptedException {
    return load(cell, WallClock.micros());
  }

  /**
   * Runs the aggregation under a lock.
   *
   * @param cell for which cell
   * @param askedMicros when the lock was asked for
   * @return the value
   * @throws AggregationException if it is set to fail
   * @throws InterruptedException if the thread was interrupted
   */
  Leaderboard load(Cell cell, long askedMicros) throws AggregationException, InterruptedException {
    long version = nextVersion();
    long beganMicros = WallClock.micros();
    boolean failed = true;
    reports.accept(new Report.LoadBegan(cell.name(), version, askedMicros, beganMicros));
    try {
      WallClock.sleepUntil(awaitHold(version) + durationMicros(version));
      failed = awaitInvalidation(beganMicros).failing();
    } finally {
      reports.accept(new Report.LoadEnded(cell.name(), version, WallClock.micros(), failed));
    }
    if (failed) {
      throw new AggregationException();
    }
    return leaderboard(version, beganMicros);
  }

  private long nextVersion() {
    lock.lock();
    try {
      return firstVersion + ++loads;
    } finally {
      lock.unlock();
    }
  }

  private long durationMicros(long version) {
    lock.lock();
    try {
      long micros = TimeUnit.MILLISECONDS.toMicros(terms.loadMillis());
      // Seeded by the version, so that the same loads take the same time in each repetition.
      return terms.uneven()
          ? micros + (long) (micros * new SplittableRandom(version).nextDouble())
          : micros;
    } finally {
      lock.unlock();
    }
  }

  private long awaitHold(long version) throws InterruptedException {
    lock.lock();
    try {
      if (terms.held()) {
        held.add(version);
        while (held.contains(version)) {
          changed.await();
        }
      }
      return WallClock.micros();
    } finally {
      held.remove(version);
      lock.unlock();
    }
  }

  private Order.Aggregation awaitInvalidation(long beganMicros) throws InterruptedException {
    lock.lock();
    try {
      while (terms.outlived() && lastInvalidationMicros <= beganMicros) {
        changed.await();
      }
      return terms;
    } finally {
      lock.unlock();
    }
  }

  private static Leaderboard leaderboard(long version, long startMicros) {
    SplittableRandom random = new SplittableRandom(version);
    List<Post> top = new ArrayList<>();
    int readers = 10_000;
    for (int place = 1; place <= TOP; place++) {
      readers -= 1 + random.nextInt(900);
      top.add(new Post(SUBJECTS.get(random.nextInt(SUBJECTS.size())) + " of the day", readers));
    }
    return new Leaderboard(version, startMicros, List.copyOf(top));
  }
}
