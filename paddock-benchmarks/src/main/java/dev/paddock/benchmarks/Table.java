/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Draws lines as text. */
final class Table {
  private static final String LAYOUT = "%-42s %12s %12s %6s %15s  %-13s %s";

  private Table() {}

  static String draw(List<Line> lines) {
    List<String> text = new ArrayList<>();
    text.add(
        String.format(LAYOUT, "figure", "Paddock", "bound", "ratio", "min-max", "target", "reached")
            .stripTrailing());
    String figure = "";
    for (Line line : lines) {
      if (!line.figure().equals(figure)) {
        text.add("-".repeat(112));
        figure = line.figure();
      }
      Boolean reached = line.reached();
      text.add(
          String.format(
                  LAYOUT,
                  line.figure() + (line.what().isEmpty() ? "" : ": " + line.what()),
                  value(line.paddock(), line.unit()),
                  value(line.bound(), line.unit()),
                  ratio(line.ratio()),
                  range(line),
                  line.target() == null ? "-" : line.target().toString(),
                  reached == null ? "-" : reached ? "yes" : "NO")
              .stripTrailing());
    }
    return String.join("\n", text) + "\n";
  }

  private static String range(Line line) {
    Double min = line.min();
    Double max = line.max();
    if (min == null || max == null) {
      return "-";
    }
    return line.ratio() == null ? number(min) + "-" + number(max) : ratio(min) + "-" + ratio(max);
  }

  private static String ratio(@Nullable Double ratio) {
    return ratio == null ? "-" : String.format(Locale.ROOT, ratio < 0.1 ? "%.4f" : "%.2f", ratio);
  }

  private static String value(@Nullable Double value, String unit) {
    return value == null ? "-" : number(value) + (unit.isEmpty() ? "" : " " + unit);
  }

  /** Three digits of it at least; more where they are whole. */
  static String number(double value) {
    double size = Math.abs(value);
    if (value == Math.rint(value) && size < 1000) {
      return String.format(Locale.ROOT, "%.0f", value);
    }
    if (size >= 100) {
      return String.format(Locale.ROOT, "%,.0f", value);
    }
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
  }
}
