/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What the workers have reported since the experiment began. Thread-safe. */
final class Journal {
  /**
   * One report.
   *
   * @param process whose
   * @param report what
   */
  record Entry(int process, Report report) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<Entry> entries = new ArrayList<>();
  private long deadlineNanos = System.nanoTime();
  private String activity = "";
  private long limitSeconds;

  /**
   * Forgets everything and sets for how long reports may be awaited.
   *
   * @param doing names what begins, in the message of the exception
   * @param limit how long it may take
   */
  void begin(String doing, Duration limit) {
    lock.lock();
    try {
      entries.clear();
      goOn(doing, limit);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets anew for how long reports may be awaited, and forgets none.
   *
   * @param doing names what begins, in the message of the exception
   * @param limit how long it may take
   */
  void goOn(String doing, Duration limit) {
    lock.lock();
    try {
      activity = doing;
      limitSeconds = limit.toSeconds();
      deadlineNanos = System.nanoTime() + limit.toNanos();
    } finally {
      lock.unlock();
    }
  }

  void add(int process, Report report) {
    lock.lock();
    try {
      entries.add(new Entry(process, report));
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  List<Entry> entries() {
    lock.lock();
    try {
      return List.copyOf(entries);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the reports of one type that match.
   *
   * @param <R> the type
   * @param type the type
   * @param matching which ones
   * @return the reports in the order in which they came
   */
  <R extends Report> List<R> all(Class<R> type, Predicate<? super R> matching) {
    return entries().stream()
        .map(Entry::report)
        .filter(type::isInstance)
        .map(type::cast)
        .filter(matching)
        .toList();
  }

  /**
   * Waits until something can be found in the journal.
   *
   * @param <T> type of what is looked for
   * @param what names it in the message of the exception
   * @param find looks for it; gives null as long as it is not there
   * @return what was found
   * @throws DemoException if the time is up, or a worker broke
   * @throws InterruptedException if the thread was interrupted
   */
  <T> T await(String what, Function<List<Entry>, @Nullable T> find) throws InterruptedException {
    lock.lock();
    try {
      while (true) {
        T found = find.apply(List.copyOf(entries));
        if (found != null) {
          return found;
        }
        refuseTrouble(what);
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) {
          throw new DemoException(
              activity
                  + " was given up after "
                  + limitSeconds
                  + " s: still no "
                  + what
                  + "; try fewer --processes or --callers");
        }
        boolean inTime = changed.await(left, TimeUnit.NANOSECONDS);
        if (!inTime) {
          deadlineNanos = System.nanoTime();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void refuseTrouble(String what) {
    for (Entry entry : entries) {
      if (entry.report() instanceof Report.Trouble trouble) {
        throw new DemoException(
            "process " + entry.process() + " failed before " + what + ": " + trouble.message());
      }
      if (entry.report() instanceof Report.Gone) {
        throw new DemoException("process " + entry.process() + " ended before " + what);
      }
    }
  }
}
