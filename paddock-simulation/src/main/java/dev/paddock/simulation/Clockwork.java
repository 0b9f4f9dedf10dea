/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.PriorityQueue;
import java.util.function.BooleanSupplier;

/**
 * The time of a world and all that is yet to happen in it. One thread; events of the same moment
 * happen in the order in which they were planned.
 */
final class Clockwork {
  /** So many events at one moment are a loop that would never end. */
  private static final int STEPS_WITHOUT_TIME_MAX = 200_000;

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowNanos;
  private long planned;
  private long steps;

  /** Something that will happen unless it is called off. */
  static final class Event implements Comparable<Event> {
    private final long dueNanos;
    private final long number;
    private final Runnable what;
    private boolean calledOff;

    private Event(long dueNanos, long number, Runnable what) {
      this.dueNanos = dueNanos;
      this.number = number;
      this.what = what;
    }

    void callOff() {
      calledOff = true;
    }

    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  /** Nanoseconds since the world began. */
  long now() {
    return nowNanos;
  }

  Event after(long delayNanos, Runnable what) {
    long due = nowNanos + Math.max(0, delayNanos);
    Event event = new Event(due < 0 ? Long.MAX_VALUE : due, planned++, what);
    events.add(event);
    return event;
  }

  /** Events that have not been called off. */
  long pending() {
    return events.stream().filter(event -> !event.calledOff).count();
  }

  /** How many events have happened. */
  long steps() {
    return steps;
  }

  /**
   * Lets things happen until the condition holds, nothing is left or the time has come.
   *
   * @return whether the condition holds
   */
  boolean runUntil(BooleanSupplier condition, long endNanos) {
    int atOnce = 0;
    while (!condition.getAsBoolean()) {
      Event next = events.peek();
      if (next == null || next.dueNanos > endNanos) {
        nowNanos = Math.max(nowNanos, endNanos);
        return condition.getAsBoolean();
      }
      events.remove();
      if (next.calledOff) {
        continue;
      }
      atOnce = next.dueNanos > nowNanos ? 0 : atOnce + 1;
      if (atOnce > STEPS_WITHOUT_TIME_MAX) {
        throw new IllegalStateException(atOnce + " events without time going on");
      }
      nowNanos = Math.max(nowNanos, next.dueNanos);
      steps++;
      next.what.run();
    }
    return true;
  }
}
