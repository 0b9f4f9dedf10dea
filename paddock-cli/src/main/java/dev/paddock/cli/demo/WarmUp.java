/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One way to read that is tried before anything is measured, so that loading of classes and the
 * first connection are over.
 *
 * @param strategy how callers read
 * @param callers how many of them in each process
 * @param patienceMillis how long a recipe tries before it gives up
 */
record WarmUp(Strategy strategy, int callers, long patienceMillis) {
  /** Longer than any experiment may take. */
  static final long NO_HURRY_MILLIS = 600_000;

  /** Under a lock callers load one after another: many would take long, and warm nothing more. */
  private static final int CALLERS_OF_A_LOCK = 2;

  private static final long PATIENCE_WITH_A_LOCK_MILLIS = 300;

  /**
   * Finds what to try.
   *
   * @param experiments what is going to be run
   * @param settings the sizes
   * @return one for each kind of reading that the experiments use
   */
  static List<WarmUp> of(Collection<Experiment> experiments, Settings settings) {
    Set<Strategy> strategies = EnumSet.noneOf(Strategy.class);
    experiments.forEach(
        experiment ->
            experiment.strategies().forEach(strategy -> strategies.add(standIn(strategy))));
    return strategies.stream()
        .map(
            strategy ->
                strategy == Strategy.TOKEN_RELEASE
                    ? new WarmUp(strategy, CALLERS_OF_A_LOCK, PATIENCE_WITH_A_LOCK_MILLIS)
                    : new WarmUp(strategy, settings.callers(), NO_HURRY_MILLIS))
        .toList();
  }

  /** Those of a kind share most of their code. */
  private static Strategy standIn(Strategy strategy) {
    return switch (strategy) {
      case UNPROTECTED, IN_PROCESS -> Strategy.UNPROTECTED;
      case CHECK_THEN_SET, SETNX_THEN_EXPIRE, PLAIN_DEL, TOKEN_RELEASE -> Strategy.TOKEN_RELEASE;
      case PADDOCK_FRESH, PADDOCK_STALE -> Strategy.PADDOCK_FRESH;
    };
  }
}
