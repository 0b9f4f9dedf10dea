/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The aggregation fails for a while: once with no value at hand, once with a stale one. */
final class FailingSource implements Experiment {
  private static final long COOL_DOWN_MILLIS = 500;
  private static final int FAILED_LOADS = 3;

  @Override
  public String name() {
    return "paddock-failing";
  }

  @Override
  public String summary() {
    return "the aggregation fails for a while";
  }

  @Override
  public String expected(Settings settings) {
    return "the stale value, or else one clear failure, for all; one load per cool-down of "
        + COOL_DOWN_MILLIS
        + " ms; fresh after recovery";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH, Strategy.PADDOCK_STALE);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Settings settings = stage.settings();
    stage.countCommands();

    Cell cold = stage.cell(name() + "-cold", 0, COOL_DOWN_MILLIS);
    stage.loadsFail();
    Round.Result failed = stage.askOnce(Strategy.PADDOCK_FRESH, cold).await();
    stage.loadsAreUsual();
    awaitCoolDown();
    Round.Result healed = stage.askOnce(Strategy.PADDOCK_FRESH, cold).await();

    Cell warm = stage.cell(name() + "-stale", Cell.TIME_TO_LIVE_MILLIS, COOL_DOWN_MILLIS);
    stage.loadsFail();
    long staleVersion = stage.seedExpired(Strategy.PADDOCK_STALE, warm);
    List<Report.Answer> meanwhile = new ArrayList<>();
    long stall = Math.max(failed.longestStallMillis(), healed.longestStallMillis());
    do {
      Round.Result result = stage.askOnce(Strategy.PADDOCK_STALE, warm).await();
      meanwhile.addAll(result.answers());
      stall = Math.max(stall, result.longestStallMillis());
    } while (stage.loads(warm).size() < FAILED_LOADS);
    stage.awaitEnd(warm, stage.loads(warm).get(FAILED_LOADS - 1).version());
    stage.loadsAreUsual();
    awaitCoolDown();
    // The first to ask gets the stale value once more and sets off the refresh.
    stage.askOnce(Strategy.PADDOCK_STALE, warm).await();
    stage.awaitFills(warm, 1);
    Round.Result fresh = stage.askOnce(Strategy.PADDOCK_STALE, warm).await();
    @Nullable Long commands = stage.commands();

    List<List<Load>> loads = List.of(stage.loads(cold), stage.loads(warm));
    List<Report.Answer> answers = new ArrayList<>(failed.answers());
    answers.addAll(healed.answers());
    answers.addAll(meanwhile);
    answers.addAll(fresh.answers());
    int stale = (int) meanwhile.stream().filter(answer -> answer.version() == staleVersion).count();
    int recovered =
        Measures.withValue(healed.answers())
            + (int)
                fresh.answers().stream()
                    .filter(a -> a.version() != 0 && a.version() != staleVersion)
                    .count();
    return Finding.of(
        loads.stream().flatMap(List::stream).toList(),
        answers,
        stale,
        commands,
        stall,
        Verdicts.paddockFailing(
            settings.allCallers(),
            failed.answers(),
            meanwhile.size(),
            stale,
            recovered,
            loads,
            COOL_DOWN_MILLIS));
  }

  /** Twice as long as it lasts, since it begins only when the failure has reached Redis. */
  private static void awaitCoolDown() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(2 * COOL_DOWN_MILLIS);
  }
}
