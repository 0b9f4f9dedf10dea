/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** What happened to one key or register around a moment, in words. Not thread-safe. */
final class Recent {
  /** Enough to judge by, and not more than a screen. */
  static final int LINES_MAX = 24;

  /**
   * What comes after the moment can't be its cause, but shows what became of what was under way.
   */
  private static final int AFTER_MAX = 4;

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(20);

  private record Event(long at, String what) {}

  private final long moment;
  private final List<Event> events = new ArrayList<>();

  /**
   * Begins with nothing.
   *
   * @param moment when the violation was, on the monotonic clock
   */
  Recent(long moment) {
    this.moment = moment;
  }

  /** Adds something, unless it is far from the moment or has not happened. */
  void add(long at, String what) {
    // A time that is not known is the greatest number, and a difference of it would overflow.
    if (at != Long.MAX_VALUE && Math.abs(at - moment) <= WINDOW_NANOS) {
      events.add(new Event(at, what));
    }
  }

  /**
   * Returns the last of it.
   *
   * @return lines in the order of time, each with its distance from the moment in seconds
   */
  List<String> lines() {
    List<Event> ordered = new ArrayList<>(events);
    ordered.sort(Comparator.comparingLong(Event::at));
    int until = 0;
    while (until < ordered.size() && ordered.get(until).at <= moment) {
      until++;
    }
    int to = Math.min(ordered.size(), until + AFTER_MAX);
    return ordered.subList(Math.max(0, to - LINES_MAX), to).stream()
        .map(
            event ->
                String.format(
                    Locale.ROOT, "%+8.3f s  %s", Terms.seconds(event.at - moment), event.what))
        .toList();
  }
}
