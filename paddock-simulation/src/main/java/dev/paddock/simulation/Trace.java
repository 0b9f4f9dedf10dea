/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** What happened in a world, in words. */
final class Trace {
  private final boolean kept;
  private final Clockwork clockwork;
  private final List<String> lines = new ArrayList<>();

  Trace(boolean kept, Clockwork clockwork) {
    this.kept = kept;
    this.clockwork = clockwork;
  }

  /** Of the world as a whole. */
  void add(String who, Supplier<String> what) {
    if (kept) {
      add(who, "", what.get());
    }
  }

  /** Of a process, with its own wall clock beside the world's. */
  void add(String who, Machine machine, Supplier<String> what) {
    if (kept) {
      long wrong = machine.wallMillis() - Machine.WALL_START_MILLIS - clockwork.now() / 1_000_000;
      add(who, wrong == 0 ? "" : String.format(Locale.ROOT, "%+d", wrong), what.get());
    }
  }

  private void add(String who, String clock, String what) {
    lines.add(
        String.format(
            Locale.ROOT,
            "%12.3f ms %8s  %-10s %s",
            clockwork.now() / 1_000_000.0,
            clock,
            who,
            what));
  }

  List<String> lines() {
    return lines;
  }
}
