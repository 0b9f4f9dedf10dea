/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An {@link Environment} in virtual time: nothing happens until a test says so, and everything
 * happens on the thread that says so.
 *
 * <p>Tasks given to {@link #executor()} wait in a queue, timers in another, ordered by time and
 * then by the order in which they were scheduled. {@link #run()}, {@link #advance(Duration)} and
 * {@link #runUntil(BooleanSupplier, Duration)} run them; whoever calls one of these <em>drives</em>
 * the environment. With the same seed and one thread the same program takes the same course.
 *
 * <p>An exception of a task or timer reaches the driver, with everything else still queued: under
 * test, nothing is swallowed.
 *
 * <p>Thread-safe: other threads may read the clocks, schedule and submit at any time, which makes
 * it usable for tests of blocking calls ({@link #pumpUntil(BooleanSupplier, Duration)}), though
 * their order then is no longer deterministic. Only one thread drives at a time. No task runs under
 * a lock of the environment.
 *
 * <p>Several instances of Paddock may share one environment; {@link #close()} therefore does
 * nothing.
 *
 * @since 0.1.0
 */
public final class VirtualEnvironment implements Environment {
  /** 2026-01-01T00:00:00Z, an arbitrary start. */
  private static final long WALL_START_MILLIS = 1_767_225_600_000L;

  /** So many steps at one moment of virtual time are a loop that would never end. */
  private static final int STEPS_WITHOUT_TIME_MAX = 1_000_000;

  private static final int LISTED_MAX = 20;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final long seed;
  private final long nanoOrigin;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition submitted = lock.newCondition();
  private final Executor executor = this::submit;

  // Under the lock, all of them.
  private final SplittableRandom random;
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final TreeSet<Scheduled> timers = new TreeSet<>();
  private long elapsedNanos;
  private long wallOffsetMillis;
  private long timerCount;
  private @Nullable Thread driver;

  /**
   * Makes an environment.
   *
   * @param seed decides all its random numbers and the origin of its monotonic clock
   */
  public VirtualEnvironment(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    // Any origin, so that code which compares readings instead of differences is found out.
    this.nanoOrigin = random.nextLong();
  }

  /**
   * Returns the seed.
   *
   * @return what was given to the constructor
   */
  public long seed() {
    return seed;
  }

  @Override
  public long nanoTime() {
    return nanoOrigin + elapsedNanos();
  }

  /**
   * Returns how far this environment has been advanced.
   *
   * @return nanoseconds since it was made
   */
  public long elapsedNanos() {
    lock.lock();
    try {
      return elapsedNanos;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long wallMillis() {
    lock.lock();
    try {
      return WALL_START_MILLIS + wallOffsetMillis + TimeUnit.NANOSECONDS.toMillis(elapsedNanos);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sets the wall clock; the monotonic clock, timers and tasks don't notice.
   *
   * @param millis milliseconds since 1970
   */
  public void setWallMillis(long millis) {
    lock.lock();
    try {
      wallOffsetMillis += millis - wallMillis();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Steps the wall clock; the monotonic clock, timers and tasks don't notice.
   *
   * @param by how far; negative for backwards
   */
  public void stepWall(Duration by) {
    lock.lock();
    try {
      wallOffsetMillis += by.toMillis();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    requireNonNull(task, "task");
    lock.lock();
    try {
      long due = elapsedNanos + Math.max(0, delayNanos);
      Scheduled timer = new Scheduled(due < 0 ? Long.MAX_VALUE : due, timerCount++, task);
      timers.add(timer);
      submitted.signalAll();
      return () -> cancel(timer);
    } finally {
      lock.unlock();
    }
  }

  private void cancel(Scheduled timer) {
    lock.lock();
    try {
      timers.remove(timer);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Executor executor() {
    return executor;
  }

  private void submit(Runnable task) {
    requireNonNull(task, "task");
    lock.lock();
    try {
      tasks.add(task);
      submitted.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long randomLong() {
    lock.lock();
    try {
      return random.nextLong();
    } finally {
      lock.unlock();
    }
  }

  /** Does nothing: an environment may be shared, and has no threads. */
  @Override
  public void close() {}

  /**
   * Returns how many timers have neither run nor been cancelled.
   *
   * @return their number
   */
  public int pendingTimers() {
    lock.lock();
    try {
      return timers.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns how many tasks of the executor have not begun.
   *
   * @return their number
   */
  public int pendingTasks() {
    lock.lock();
    try {
      return tasks.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Runs whatever can run without time going on: all tasks, those they submit, and timers that are
   * due.
   *
   * @throws IllegalStateException if somebody is driving already
   * @throws AssertionError if it does not come to an end
   */
  public void run() {
    beginDriving();
    try {
      drain(() -> false);
    } finally {
      endDriving();
    }
  }

  /**
   * Lets time go on, running timers and tasks in their order on the way; what they schedule within
   * that time runs too.
   *
   * @param by how far; not negative
   * @throws IllegalArgumentException if it is negative
   * @throws IllegalStateException if somebody is driving already
   * @throws AssertionError if it does not come to an end
   */
  public void advance(Duration by) {
    if (by.isNegative()) {
      throw new IllegalArgumentException("time can't go back, by is " + by);
    }
    beginDriving();
    try {
      long end = Math.addExact(elapsedNanos(), by.toNanos());
      do {
        drain(() -> false);
      } while (moveToNextTimer(end));
      moveTo(end);
    } finally {
      endDriving();
    }
  }

  /**
   * Runs tasks and goes from timer to timer until a condition holds. The clocks then stand at the
   * moment when it came true.
   *
   * @param condition checked before the first and after each task and timer
   * @param max how far virtual time may go on at most; not negative
   * @throws IllegalStateException if somebody is driving already
   * @throws AssertionError with the state of the environment if the condition does not come true,
   *     because the time is over or because nothing is left that could happen
   */
  public void runUntil(BooleanSupplier condition, Duration max) {
    beginDriving();
    try {
      long end = Math.addExact(elapsedNanos(), max.toNanos());
      do {
        if (drain(condition)) {
          return;
        }
      } while (moveToNextTimer(end));
      throw new AssertionError("the condition did not come true within " + max + ": " + this);
    } finally {
      endDriving();
    }
  }

  /**
   * As {@link #runUntil(BooleanSupplier, Duration)} until the stage is complete.
   *
   * @param <T> the type of its result
   * @param stage what to wait for
   * @param max how far virtual time may go on at most
   * @return its result
   * @throws CompletionException if it completed exceptionally, with that exception as its cause
   */
  public <T extends @Nullable Object> T await(CompletionStage<T> stage, Duration max) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    runUntil(future::isDone, max);
    return future.join();
  }

  /**
   * Runs tasks, and timers that are due, as other threads submit them, until a condition holds.
   * Virtual time stands still: it is for the test to say when it goes on.
   *
   * @param condition checked about once a millisecond and after each task
   * @param realMax how long this may take at most, in real time
   * @throws IllegalStateException if somebody is driving already
   * @throws AssertionError with the state of the environment if the condition does not come true,
   *     or the thread is interrupted (its flag is kept)
   */
  public void pumpUntil(BooleanSupplier condition, Duration realMax) {
    beginDriving();
    try {
      long start = System.nanoTime();
      while (!drain(condition)) {
        if (System.nanoTime() - start > realMax.toNanos()) {
          throw new AssertionError(
              "the condition did not come true within " + realMax + " of real time: " + this);
        }
        awaitSubmission();
      }
    } finally {
      endDriving();
    }
  }

  private void awaitSubmission() {
    lock.lock();
    try {
      long left = POLL_NANOS;
      while (left > 0 && !isReady()) {
        left = submitted.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted: " + this, e);
    } finally {
      lock.unlock();
    }
  }

  private boolean isReady() {
    return !tasks.isEmpty() || (!timers.isEmpty() && timers.first().dueNanos <= elapsedNanos);
  }

  private void beginDriving() {
    lock.lock();
    try {
      if (driver != null) {
        throw new IllegalStateException(
            driver == Thread.currentThread()
                ? "a task or timer must not drive the environment that runs it"
                : "another thread drives this environment: " + driver.getName());
      }
      driver = Thread.currentThread();
    } finally {
      lock.unlock();
    }
  }

  private void endDriving() {
    lock.lock();
    try {
      driver = null;
    } finally {
      lock.unlock();
    }
  }

  /** Runs what is ready until nothing is or the condition holds; tells whether it holds. */
  private boolean drain(BooleanSupplier condition) {
    for (int steps = 0; steps < STEPS_WITHOUT_TIME_MAX; steps++) {
      if (condition.getAsBoolean()) {
        return true;
      }
      Runnable next = pollReady();
      if (next == null) {
        return false;
      }
      next.run();
    }
    throw new AssertionError(
        STEPS_WITHOUT_TIME_MAX + " steps without time going on, this does not end: " + this);
  }

  private @Nullable Runnable pollReady() {
    lock.lock();
    try {
      Runnable task = tasks.poll();
      if (task != null) {
        return task;
      }
      if (timers.isEmpty() || timers.first().dueNanos > elapsedNanos) {
        return null;
      }
      return requireNonNull(timers.pollFirst()).task;
    } finally {
      lock.unlock();
    }
  }

  private boolean moveToNextTimer(long end) {
    lock.lock();
    try {
      if (timers.isEmpty() || timers.first().dueNanos > end) {
        return false;
      }
      // A timer that another thread scheduled meanwhile may be due already.
      elapsedNanos = Math.max(elapsedNanos, timers.first().dueNanos);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void moveTo(long end) {
    lock.lock();
    try {
      elapsedNanos = end;
    } finally {
      lock.unlock();
    }
  }

  /** Describes seed, time, tasks and timers, for messages. */
  @Override
  public String toString() {
    lock.lock();
    try {
      List<String> waiting = new ArrayList<>();
      for (Scheduled timer : timers) {
        if (waiting.size() == LISTED_MAX) {
          waiting.add("...");
          break;
        }
        waiting.add("+" + Duration.ofNanos(timer.dueNanos - elapsedNanos) + " " + timer.task);
      }
      return "VirtualEnvironment[seed="
          + seed
          + ", elapsed="
          + Duration.ofNanos(elapsedNanos)
          + ", tasks="
          + tasks.size()
          + ", timers="
          + timers.size()
          + " "
          + waiting
          + "]";
    } finally {
      lock.unlock();
    }
  }

  /** Ordered by time, then by the order of scheduling, which is unique. */
  private record Scheduled(long dueNanos, long number, Runnable task)
      implements Comparable<Scheduled> {
    @Override
    public int compareTo(Scheduled other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Scheduled that && number == that.number;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(number);
    }
  }
}
