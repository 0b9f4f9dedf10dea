/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** What the reports of an experiment add up to. Pure functions. */
final class Measures {
  private Measures() {}

  /**
   * Puts the loads of a cell together.
   *
   * @param entries the journal
   * @param cell the cell
   * @param cutOffMicros when loads without an end were cut off
   * @return the loads in the order in which they began
   */
  static List<Load> loads(List<Journal.Entry> entries, Cell cell, long cutOffMicros) {
    Map<Long, Load> loads = new LinkedHashMap<>();
    for (Journal.Entry entry : entries) {
      if (entry.report() instanceof Report.LoadBegan began && began.cell().equals(cell.name())) {
        loads.put(
            began.version(),
            new Load(
                entry.process(),
                began.version(),
                began.askedMicros(),
                began.atMicros(),
                Math.max(began.atMicros(), cutOffMicros),
                true));
      } else if (entry.report() instanceof Report.LoadEnded ended
          && ended.cell().equals(cell.name())) {
        loads.computeIfPresent(
            ended.version(),
            (version, load) ->
                new Load(
                    load.process(),
                    version,
                    load.askedMicros(),
                    load.beganMicros(),
                    ended.atMicros(),
                    ended.failed()));
      }
    }
    List<Load> sorted = new ArrayList<>(loads.values());
    sorted.sort(Comparator.comparingLong(Load::beganMicros));
    return sorted;
  }

  /**
   * Finds how many loads ran at once at most. One that begins as another ends does not overlap it.
   *
   * @param loads the loads
   * @return the largest number; 0 without loads
   */
  static int mostAtOnce(Collection<Load> loads) {
    long[] begins = sorted(loads, Load::beganMicros);
    long[] ends = sorted(loads, Load::endedMicros);
    int most = 0;
    int ended = 0;
    for (int begun = 1; begun <= begins.length; begun++) {
      while (ends[ended] <= begins[begun - 1] && ended < begun - 1) {
        ended++;
      }
      most = Math.max(most, begun - ended);
    }
    return most;
  }

  /**
   * Finds how many loads ran at once at most in one and the same process.
   *
   * @param loads the loads
   * @return the largest number; 0 without loads
   */
  static int mostAtOnceInOneProcess(Collection<Load> loads) {
    return loads.stream().collect(Collectors.groupingBy(Load::process)).values().stream()
        .mapToInt(Measures::mostAtOnce)
        .max()
        .orElse(0);
  }

  private static long[] sorted(Collection<Load> loads, ToLongFunction<Load> instant) {
    return loads.stream().mapToLong(instant).sorted().toArray();
  }

  /**
   * Finds how many loads the busiest process ran.
   *
   * @param loads the loads
   * @return the largest number of loads in one process
   */
  static int mostInOneProcess(Collection<Load> loads) {
    Map<Integer, Integer> counts = new HashMap<>();
    loads.forEach(load -> counts.merge(load.process(), 1, Integer::sum));
    return counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  /**
   * Counts the answers whose value was loaded before an instant.
   *
   * @param answers the answers
   * @param micros the instant
   * @return how many have a value, and one from before
   */
  static int loadedBefore(Collection<Report.Answer> answers, long micros) {
    return (int)
        answers.stream()
            .filter(answer -> answer.version() != 0 && answer.loadStartMicros() < micros)
            .count();
  }

  /**
   * Counts the answers that are older than the invalidations allow: whose load began before the
   * last invalidation that had returned when the caller asked.
   *
   * @param answers the answers
   * @param invalidations the invalidations
   * @return how many there are
   */
  static int outdated(
      Collection<Report.Answer> answers, Collection<Report.Invalidated> invalidations) {
    int outdated = 0;
    for (Report.Answer answer : answers) {
      long lastMicros =
          invalidations.stream()
              .filter(invalidation -> invalidation.returnedMicros() <= answer.askedMicros())
              .mapToLong(Report.Invalidated::beganMicros)
              .max()
              .orElse(Long.MIN_VALUE);
      if (answer.version() != 0 && answer.loadStartMicros() < lastMicros) {
        outdated++;
      }
    }
    return outdated;
  }

  /**
   * Counts the answers that hold a value.
   *
   * @param answers the answers
   * @return how many
   */
  static int withValue(Collection<Report.Answer> answers) {
    return (int) answers.stream().filter(answer -> answer.version() != 0).count();
  }
}
