/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long callers waited beyond the load that made their value: the time from question to answer,
 * less the part of it in which that load ran. So a caller that waited for just that load waited for
 * 0 ms, and so did one whose value was there. Percentiles are by nearest rank.
 *
 * @param p50 half of the callers waited no longer than this many milliseconds
 * @param p99 99 of 100 callers waited no longer
 * @param max nobody waited longer
 */
record Waits(long p50, long p99, long max) {

  /**
   * Works the waits out.
   *
   * @param answers what callers got
   * @param loads the loads that ran
   * @return the waits; all 0 without answers
   */
  static Waits of(Collection<Report.Answer> answers, List<Load> loads) {
    Map<Long, Load> byVersion = new HashMap<>();
    loads.forEach(load -> byVersion.put(load.version(), load));
    long[] micros =
        answers.stream()
            .mapToLong(answer -> waitMicros(answer, byVersion.get(answer.version())))
            .sorted()
            .toArray();
    return new Waits(percentile(micros, 50), percentile(micros, 99), percentile(micros, 100));
  }

  private static long waitMicros(Report.Answer answer, @Nullable Load load) {
    long whole = answer.answeredMicros() - answer.askedMicros();
    if (load == null) {
      return Math.max(0, whole);
    }
    long from = Math.max(answer.askedMicros(), load.beganMicros());
    long to = Math.min(answer.answeredMicros(), load.endedMicros());
    return Math.max(0, whole - Math.max(0, to - from));
  }

  private static long percentile(long[] sortedMicros, int percent) {
    if (sortedMicros.length == 0) {
      return 0;
    }
    int rank = (int) Math.ceil(sortedMicros.length * (percent / 100.0));
    return Math.round(
        sortedMicros[Math.max(1, rank) - 1] / (double) TimeUnit.MILLISECONDS.toMicros(1));
  }
}
