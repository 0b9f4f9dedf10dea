/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Invalidations come faster than loads end: each load goes on until one has returned that began
 * after the load did.
 */
final class Churn implements Experiment {
  private static final int LOADS_LONG = 10;

  @Override
  public String name() {
    return "paddock-churn";
  }

  @Override
  public String summary() {
    return "invalidated again and again, faster than loads end";
  }

  @Override
  public String expected(Settings settings) {
    return "each answer loaded after the last invalidate that returned before its call; nothing"
        + " stored";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Settings settings = stage.settings();
    Cell cell = stage.cell(name());
    stage.loadsAreOutlived();
    stage.countCommands();
    Round round = stage.askAgain(Strategy.PADDOCK_FRESH, cell);
    round.awaitAllAsked();
    long stopMicros =
        round.startAtMicros() + TimeUnit.MILLISECONDS.toMicros(LOADS_LONG * settings.loadMillis());
    boolean stopped = false;
    int process = 0;
    while (!round.isOver()) {
      stage.announce(stage.invalidate(process, Strategy.PADDOCK_FRESH, cell));
      process = (process + 1) % settings.processes();
      WallClock.sleepUntil(
          WallClock.micros() + TimeUnit.MILLISECONDS.toMicros(settings.loadMillis()) / 4);
      if (!stopped && WallClock.micros() > stopMicros) {
        round.stop();
        stopped = true;
      }
    }
    Round.Result result = round.await();
    @Nullable Long commands = stage.commands();
    List<Report.Answer> answers = result.answers();
    List<Report.Invalidated> invalidations = stage.invalidations(cell);
    int outdated = Measures.outdated(answers, invalidations);
    int valued = Measures.withValue(answers);
    long stored =
        stage.fills(cell).stream().filter(outcome -> outcome.startsWith("STORED")).count();
    return Finding.of(
        stage.loads(cell),
        answers,
        outdated,
        commands,
        result.longestStallMillis(),
        Verdicts.paddockChurn(
            outdated,
            valued,
            answers.size() - valued,
            invalidations.size(),
            stored,
            stage.storedVersion(0, cell) != 0));
  }
}
