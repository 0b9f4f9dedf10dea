/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The plain case: a value expires, and all callers of all processes ask at that moment, once. */
final class OneQuestion implements Experiment {
  /** Says whether it came out as expected. */
  interface Judge {
    /**
     * Judges.
     *
     * @param settings the sizes
     * @param loads the loads
     * @param staleAnswers how many callers got the value that had expired
     * @param result what became of the callers
     * @return the verdict
     */
    Verdict judge(Settings settings, List<Load> loads, int staleAnswers, Round.Result result);
  }

  private final String name;
  private final Strategy strategy;
  private final String summary;
  private final Function<Settings, String> expected;
  private final Judge judge;

  OneQuestion(
      String name,
      Strategy strategy,
      String summary,
      Function<Settings, String> expected,
      Judge judge) {
    this.name = name;
    this.strategy = strategy;
    this.summary = summary;
    this.expected = expected;
    this.judge = judge;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return summary;
  }

  @Override
  public String expected(Settings settings) {
    return expected.apply(settings);
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(strategy);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    boolean stale = strategy == Strategy.PADDOCK_STALE;
    Cell cell = stage.cell(name, stale ? Cell.TIME_TO_LIVE_MILLIS : 0, 0);
    stage.loadsAreUsual();
    stage.seedExpired(strategy, cell);
    stage.countCommands();
    Round round = stage.askOnce(strategy, cell);
    Round.Result result = round.await();
    if (stale) {
      // Nobody waits for the refresh; it is part of the experiment all the same.
      stage.awaitFills(cell, 1);
    }
    @Nullable Long commands = stage.commands();
    List<Load> loads = stage.loads(cell);
    int staleAnswers = Measures.loadedBefore(result.answers(), round.startAtMicros());
    return Finding.of(
        loads,
        result.answers(),
        staleAnswers,
        commands,
        result.longestStallMillis(),
        judge.judge(stage.settings(), loads, staleAnswers, result));
  }
}
