/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One run of callers in some or all processes, as the coordinator follows it. */
final class Round {
  private final long id;
  private final Journal journal;
  private final Fleet fleet;
  private final long startAtMicros;
  private final Set<Integer> processes;

  Round(long id, Journal journal, Fleet fleet, long startAtMicros, Set<Integer> processes) {
    this.id = id;
    this.journal = journal;
    this.fleet = fleet;
    this.startAtMicros = startAtMicros;
    this.processes = new HashSet<>(processes);
  }

  /**
   * Returns when the callers were told to ask.
   *
   * @return microseconds since 1970
   */
  long startAtMicros() {
    return startAtMicros;
  }

  /**
   * Expects nothing any more from a process that was killed.
   *
   * @param process its number
   */
  void without(int process) {
    processes.remove(process);
  }

  /** Lets callers that ask again and again finish what they are at. */
  void stop() {
    processes.forEach(process -> fleet.worker(process).send(new Order.Stop(id)));
  }

  void awaitAllAsked() throws InterruptedException {
    journal.await(
        "question from each caller",
        entries ->
            entries.stream()
                        .filter(e -> e.report() instanceof Report.AllAsked a && a.round() == id)
                        .count()
                    >= processes.size()
                ? Boolean.TRUE
                : null);
  }

  /**
   * Tells whether all callers have been answered.
   *
   * @return true if so
   */
  boolean isOver() {
    return answered(journal.entries()) != null;
  }

  private @Nullable List<Report.Answered> answered(List<Journal.Entry> entries) {
    List<Report.Answered> found = new ArrayList<>();
    for (Journal.Entry entry : entries) {
      if (entry.report() instanceof Report.Answered answered
          && answered.round() == id
          && processes.contains(entry.process())) {
        found.add(answered);
      }
    }
    return found.size() < processes.size() ? null : found;
  }

  /**
   * Waits until all callers are answered.
   *
   * @return what became of them
   * @throws InterruptedException if the thread was interrupted
   */
  Result await() throws InterruptedException {
    List<Report.Answer> answers = new ArrayList<>();
    Map<String, Long> events = new TreeMap<>();
    long stall = 0;
    for (Report.Answered answered : journal.await("answer for each caller", this::answered)) {
      answers.addAll(answered.answers());
      answered.events().forEach((name, count) -> events.merge(name, count, Long::sum));
      stall = Math.max(stall, answered.longestStallMillis());
    }
    return new Result(answers, events, stall);
  }

  /**
   * What became of the callers.
   *
   * @param answers what they got
   * @param events how often Paddock told its listener what about this cell so far
   * @param longestStallMillis for how long a process could not get through to Redis at worst
   */
  record Result(List<Report.Answer> answers, Map<String, Long> events, long longestStallMillis) {}
}
