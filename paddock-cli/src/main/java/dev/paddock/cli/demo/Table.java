/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.List;

/** The table for people: 120 columns wide at most, long texts wrapped inside their cells. */
final class Table {
  /** The widest line. */
  static final int WIDTH = 120;

  /** Columns taken by the name and the numbers. */
  private static final int LEFT = 61;

  private static final int TEXT = 25;

  private Table() {}

  /**
   * Draws the table.
   *
   * @param settings the sizes, for the heading
   * @param redisVersion the server, for the heading
   * @param experiments what was run
   * @param rows what came of it, in the same order
   * @return lines that end with a line feed
   */
  static String draw(
      Settings settings, String redisVersion, List<Experiment> experiments, List<Row> rows) {
    List<String> lines = new ArrayList<>();
    lines.addAll(
        wrap(
            String.format(
                "Trending posts: a leaderboard, made by an aggregation of %d ms and cached in Redis"
                    + " %s. %d processes of %d callers all ask for it at the moment after it has"
                    + " expired. Locks and leases last %d ms.",
                settings.loadMillis(),
                redisVersion,
                settings.processes(),
                settings.callers(),
                settings.leaseMillis()),
            WIDTH));
    lines.add("");
    lines.add(line(numbers("", "", "at", "", "wait,", "in", "ms", "Redis"), "", "", ""));
    lines.add(
        line(
            numbers("experiment", "loads", "once", "stale", "p50", "p99", "max", "cmds"),
            "expected",
            "observed",
            "met"));
    String title = "";
    for (int i = 0; i < rows.size(); i++) {
      Experiment experiment = experiments.get(i);
      String next = title(experiment);
      if (!next.equals(title)) {
        lines.add("-- " + next + " " + "-".repeat(WIDTH - 4 - next.length()));
      }
      title = next;
      row(lines, experiment, rows.get(i));
    }
    lines.add("-".repeat(WIDTH));
    lines.addAll(
        wrap(
            "loads: how often the aggregation ran. at once: how many ran at the same time at most."
                + " stale: answers that were out of date. wait: how long callers waited beyond the"
                + " load that made their value. Redis cmds: commands sent by the processes. More:"
                + " ./paddock demo --help",
            WIDTH));
    long failed = rows.stream().filter(row -> !row.met()).count();
    lines.add(
        failed == 0
            ? "All " + rows.size() + " came out as expected."
            : failed + " of " + rows.size() + " did NOT come out as expected.");
    return String.join("\n", lines) + "\n";
  }

  private static String title(Experiment experiment) {
    return readsNothing(experiment)
        ? "Leases for other work than loading"
        : experiment.name().startsWith("paddock-") ? "With Paddock" : "Without Paddock";
  }

  /** Under a lease nothing is read, so there are no loads and no waits to count. */
  private static boolean readsNothing(Experiment experiment) {
    return experiment.strategies().isEmpty();
  }

  private static void row(List<String> lines, Experiment experiment, Row row) {
    List<String> left = new ArrayList<>();
    left.add(readsNothing(experiment) ? row.name() : measured(row));
    wrap(experiment.summary(), LEFT - 2).forEach(text -> left.add("  " + text));
    List<String> expected = wrap(row.expected(), TEXT);
    List<String> observed = wrap(row.observed(), TEXT);
    int height = Math.max(left.size(), Math.max(expected.size(), observed.size()));
    for (int i = 0; i < height; i++) {
      String met = i > 0 ? "" : row.met() ? "yes" : "NO";
      lines.add(line(cell(left, i), cell(expected, i), cell(observed, i), met));
    }
  }

  private static String measured(Row row) {
    Waits waits = row.waitMillis();
    return numbers(
        row.name(),
        row.loads(),
        row.mostLoadsAtOnce(),
        row.staleAnswers(),
        waits.p50(),
        waits.p99(),
        waits.max(),
        row.redisCommands() == null ? "?" : row.redisCommands());
  }

  private static String cell(List<String> lines, int i) {
    return i < lines.size() ? lines.get(i) : "";
  }

  private static String numbers(Object... cells) {
    return String.format("%-19s %5s %4s %5s %5s %5s %5s %6s", cells);
  }

  private static String line(String left, String expected, String observed, String met) {
    return (padded(left, LEFT) + padded(expected, TEXT) + padded(observed, TEXT) + met)
        .stripTrailing();
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(width - text.length() + 2);
  }

  /**
   * Breaks a text at spaces; a word that is too long is cut.
   *
   * @param text the text
   * @param width characters in a line
   * @return lines, at least one
   */
  static List<String> wrap(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.strip().split("\\s+", -1)) {
      String rest = word;
      if (!line.isEmpty() && line.length() + 1 + rest.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      while (rest.length() > width) {
        lines.add(rest.substring(0, width));
        rest = rest.substring(width);
      }
      line.append(line.isEmpty() ? "" : " ").append(rest);
    }
    lines.add(line.toString());
    return lines;
  }
}
