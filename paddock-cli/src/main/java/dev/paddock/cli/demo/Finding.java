/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of one run of an experiment.
 *
 * @param loads how many loads began
 * @param mostAtOnce how many of them ran at once at most
 * @param staleAnswers how many callers got a value that was no longer right
 * @param waits how long callers waited
 * @param redisCommands how many commands the processes sent to Redis; null if that is not known
 * @param longestStallMillis for how long a process could not get through to Redis at worst
 * @param verdict whether it is as expected
 */
record Finding(
    int loads,
    int mostAtOnce,
    int staleAnswers,
    Waits waits,
    @Nullable Long redisCommands,
    long longestStallMillis,
    Verdict verdict) {

  /**
   * Puts a finding together.
   *
   * @param loads the loads
   * @param answers what callers got
   * @param staleAnswers how many callers got a value that was no longer right
   * @param redisCommands how many commands the processes sent; null if unknown
   * @param longestStallMillis for how long a process could not get through to Redis at worst
   * @param verdict whether it is as expected
   * @return the finding
   */
  static Finding of(
      List<Load> loads,
      Collection<Report.Answer> answers,
      int staleAnswers,
      @Nullable Long redisCommands,
      long longestStallMillis,
      Verdict verdict) {
    return new Finding(
        loads.size(),
        Measures.mostAtOnce(loads),
        staleAnswers,
        Waits.of(answers, loads),
        redisCommands,
        longestStallMillis,
        verdict);
  }

  /**
   * Makes the finding of a run that was given up.
   *
   * @param why what went wrong
   * @return a finding that is not as expected
   */
  static Finding none(String why) {
    return new Finding(0, 0, 0, new Waits(0, 0, 0), null, 0, new Verdict(false, why));
  }

  /**
   * Says that runs before this one did not count.
   *
   * @param run which run this is
   * @return the same, with that in the verdict
   */
  Finding ofRun(int run) {
    return new Finding(
        loads,
        mostAtOnce,
        staleAnswers,
        waits,
        redisCommands,
        longestStallMillis,
        new Verdict(
            verdict.met(),
            verdict.leaseMayBeLost(),
            verdict.observed() + " (run " + run + ": stalls in those before)"));
  }
}
