/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a soak came to.
 *
 * @param seed with which it can be run again
 * @param again the whole command that does
 * @param workloads what the workers did
 * @param topologies one for each group of servers
 * @param violations how many promises were not kept
 * @param bites whether the unfenced registers lost updates, which shows that the faults do harm
 * @param interrupted whether it was ended before its time
 * @param passed whether nothing is wrong
 */
record Report(
    long seed,
    String again,
    List<String> workloads,
    List<Part> topologies,
    long violations,
    boolean bites,
    boolean interrupted,
    boolean passed) {

  /**
   * One topology.
   *
   * @param topology its name
   * @param servers what it is
   * @param seconds how long it took
   * @param workers how many processes
   * @param operations calls of caches, lookups, and updates of registers that came to an end
   * @param faults how often which was injected
   * @param leftOut which can't be, and why
   * @param stampede what the caches did; empty without that workload
   * @param register what the registers did; empty without that workload
   * @param database where the registers were; empty without them
   * @param counts all that was counted
   * @param violations those found, or the first of them
   * @param remarks what a reader should know
   */
  record Part(
      String topology,
      String servers,
      double seconds,
      int workers,
      long operations,
      Map<String, Integer> faults,
      Map<String, String> leftOut,
      Map<String, Long> stampede,
      Map<String, Twin> register,
      String database,
      Map<String, Long> counts,
      List<Found> violations,
      List<String> remarks) {}

  /**
   * What became of the updates of the registers.
   *
   * @param acknowledged by the database
   * @param rejected by the fence
   * @param unknown the database failed
   * @param lost acknowledged, and overwritten by somebody who had not seen them
   */
  record Twin(long acknowledged, long rejected, long unknown, long lost) {}

  /**
   * A violation as it is reported.
   *
   * @param check which check found it
   * @param what what happened
   * @param atSeconds when, from the begin of the topology
   * @param expected what was promised
   * @param actual what was seen
   * @param recent what happened around it to the key or register that it concerns, a line each
   */
  record Found(
      String check,
      String what,
      double atSeconds,
      String expected,
      String actual,
      List<String> recent) {}

  int exitCode() {
    return passed ? 0 : 1;
  }

  String table() {
    List<String> lines = new ArrayList<>();
    for (Part part : topologies) {
      lines.add("");
      lines.add(part.topology + ": " + part.servers);
      row(lines, "duration", String.format(Locale.ROOT, "%.1f s", part.seconds));
      row(lines, "workers", Integer.toString(part.workers));
      row(lines, "operations", Long.toString(part.operations));
      row(lines, "faults", text(part.faults));
      part.leftOut.forEach((fault, why) -> row(lines, "left out", fault + " (" + why + ")"));
      if (!part.stampede.isEmpty()) {
        row(lines, "stampede", text(part.stampede));
        row(
            lines,
            "",
            String.format(
                Locale.ROOT,
                "loads for %.1f %% of the calls, %.1f %% of the loads without a lease",
                percent(part.stampede, "loads", "calls"),
                percent(part.stampede, "loadsUnleased", "loads")));
      }
      part.register.forEach(
          (name, twin) ->
              row(
                  lines,
                  name,
                  twin.acknowledged
                      + " acknowledged, "
                      + twin.rejected
                      + " rejected, "
                      + twin.unknown
                      + " unknown, "
                      + twin.lost
                      + " LOST"
                      + (twin.acknowledged == 0
                          ? ""
                          : String.format(
                              Locale.ROOT, " (%.1f %%)", 100.0 * twin.lost / twin.acknowledged))));
      if (!part.database.isEmpty()) {
        row(lines, "database", part.database);
      }
      part.remarks.forEach(remark -> row(lines, "remark", remark));
      row(lines, "violations", String.valueOf(part.counts.getOrDefault("violations", 0L)));
      for (Found found : part.violations) {
        lines.add(
            String.format(
                Locale.ROOT,
                "    %s at %.3f s: %s%n      expected: %s%n      actual:   %s",
                found.check,
                found.atSeconds,
                found.what,
                found.expected,
                found.actual));
        found.recent.forEach(line -> lines.add("      " + line));
      }
    }
    lines.add("");
    lines.add(
        (passed ? "PASSED" : "FAILED")
            + ": "
            + violations
            + " violations; "
            + (register()
                ? bites
                    ? "the unfenced registers lost updates, so the faults bite"
                    : "the unfenced registers lost nothing: the faults did not bite"
                : "no registers")
            + (interrupted ? "; interrupted" : "")
            + ".\nAgain: "
            + again);
    return String.join("\n", lines) + "\n";
  }

  private boolean register() {
    return workloads.contains("register");
  }

  private static double percent(Map<String, Long> counts, String part, String whole) {
    return 100.0 * counts.getOrDefault(part, 0L) / Math.max(1, counts.getOrDefault(whole, 0L));
  }

  private static void row(List<String> lines, String name, String text) {
    lines.add(String.format(Locale.ROOT, "  %-10s  %s", name, text));
  }

  private static String text(Map<String, ? extends Number> counts) {
    List<String> words = new ArrayList<>();
    counts.forEach((what, n) -> words.add(what + " " + n));
    return String.join(", ", words);
  }
}
