/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The process that loads is killed in the middle of it, while all others wait. */
final class KilledHolder implements Experiment {
  @Override
  public String name() {
    return "paddock-killed";
  }

  @Override
  public String summary() {
    return "the process that loads is killed in mid-load (SIGKILL)";
  }

  @Override
  public String expected(Settings settings) {
    return "2 loads; all survivors answered within lease + load + polls, "
        + Verdicts.killedLimitMillis(settings)
        + " ms at most";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Settings settings = stage.settings();
    Cell cell = stage.cell(name());
    stage.loadsAreHeld();
    stage.seedExpired(Strategy.PADDOCK_FRESH, cell);
    stage.countCommands();
    Round round = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    int holder = stage.awaitBegin(cell, 1).process();
    round.awaitAllAsked();
    long killedMicros = WallClock.micros();
    stage.worker(holder).kill();
    round.without(holder);
    stage.letGo();
    Round.Result result = round.await();
    @Nullable Long commands = stage.commands();
    List<Load> loads = stage.loads(cell, killedMicros);
    long lastMicros =
        result.answers().stream()
            .mapToLong(Report.Answer::answeredMicros)
            .max()
            .orElse(killedMicros);
    return Finding.of(
        loads,
        result.answers(),
        Measures.loadedBefore(result.answers(), round.startAtMicros()),
        commands,
        result.longestStallMillis(),
        Verdicts.paddockKilled(
            settings.allCallers() - settings.callers(),
            loads,
            result.answers(),
            TimeUnit.MICROSECONDS.toMillis(lastMicros - killedMicros),
            Verdicts.killedLimitMillis(settings)));
  }
}
