/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import dev.paddock.spi.Environment;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * What one simulated process lives in: clocks that may be wrong, timers, an executor, and the whims
 * of an operating system that stops it between any two of its steps or for good.
 */
final class Machine implements Environment {
  /** 2026-01-01T00:00:00Z, an arbitrary start. */
  static final long WALL_START_MILLIS = 1_767_225_600_000L;

  private final Clockwork clockwork;
  private final SplittableRandom random;
  private final long nanoOrigin;
  private final double rate;
  private final ArrayDeque<Runnable> held = new ArrayDeque<>();
  private final Executor executor = task -> enter(task, "");
  private Consumer<String> onFreeze = why -> {};
  private long wallOffsetMillis;
  private int pendingTimers;
  private int stepsToFreeze = -1;
  private long freezeNanos;
  private long frozenSinceNanos = -1;
  private long frozenNanos;
  private boolean dead;

  /**
   * Makes it.
   *
   * @param rate how fast its clocks go; 1 for right
   * @param wallOffsetMillis how far its wall clock is ahead
   */
  Machine(Clockwork clockwork, SplittableRandom random, double rate, long wallOffsetMillis) {
    this.clockwork = clockwork;
    this.random = random;
    // Any origin, so that code which compares readings instead of differences is found out.
    this.nanoOrigin = random.nextLong();
    this.rate = rate;
    this.wallOffsetMillis = wallOffsetMillis;
  }

  @Override
  public long nanoTime() {
    return nanoOrigin + (long) (clockwork.now() * rate);
  }

  @Override
  public long wallMillis() {
    return WALL_START_MILLIS + wallOffsetMillis + (long) (clockwork.now() * rate) / 1_000_000;
  }

  void stepWall(long millis) {
    wallOffsetMillis += millis;
  }

  long wallOffsetMillis() {
    return wallOffsetMillis;
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    boolean[] over = {false};
    pendingTimers++;
    Clockwork.Event event =
        clockwork.after(
            (long) Math.ceil(Math.max(0, delayNanos) / rate),
            () ->
                enter(
                    () -> {
                      // Called off while the process was stopped, it never runs.
                      if (!over[0]) {
                        over[0] = true;
                        pendingTimers--;
                        task.run();
                      }
                    },
                    "timer"));
    return () -> {
      if (!over[0]) {
        over[0] = true;
        pendingTimers--;
        event.callOff();
      }
    };
  }

  @Override
  public Executor executor() {
    return executor;
  }

  /** Something reaches the process: a reply, a message, a task, a timer. */
  void receive(Runnable step) {
    enter(step, "network");
  }

  private void enter(Runnable step, String from) {
    if (from.equals("timer")) {
      step(step);
    } else {
      clockwork.after(0, () -> step(step));
    }
  }

  private void step(Runnable step) {
    if (dead) {
      return;
    }
    if (isFrozen()) {
      held.add(step);
      return;
    }
    if (stepsToFreeze >= 0 && --stepsToFreeze < 0) {
      freeze(freezeNanos);
      held.add(step);
      return;
    }
    step.run();
  }

  /** Stops it before the so-manieth step from now. */
  void freezeAt(int steps, long nanos, Consumer<String> told) {
    stepsToFreeze = steps;
    freezeNanos = nanos;
    onFreeze = told;
  }

  /** Stops it now. */
  void freeze(long nanos) {
    if (isFrozen() || dead) {
      return;
    }
    frozenSinceNanos = clockwork.now();
    onFreeze.accept("stopped for " + nanos / 1_000_000 + " ms");
    clockwork.after(nanos, this::thaw);
  }

  /** Lets it go on. */
  void thaw() {
    stepsToFreeze = -1;
    if (!isFrozen()) {
      return;
    }
    frozenNanos += clockwork.now() - frozenSinceNanos;
    frozenSinceNanos = -1;
    onFreeze.accept("goes on");
    while (!held.isEmpty()) {
      Runnable step = held.remove();
      clockwork.after(0, () -> step(step));
    }
  }

  boolean isFrozen() {
    return frozenSinceNanos >= 0;
  }

  /** For how long it has been stopped in all. */
  long frozenNanos() {
    return frozenNanos + (isFrozen() ? clockwork.now() - frozenSinceNanos : 0);
  }

  /** Ends it in the middle of whatever it does: nothing of it ever runs again. */
  void kill() {
    dead = true;
    held.clear();
  }

  boolean isDead() {
    return dead;
  }

  int pendingTimers() {
    return pendingTimers;
  }

  @Override
  public long randomLong() {
    return random.nextLong();
  }

  @Override
  public void close() {}
}
