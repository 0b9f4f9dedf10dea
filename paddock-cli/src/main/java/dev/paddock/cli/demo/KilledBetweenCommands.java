/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** SETNX, then EXPIRE, and the process that holds the lock is killed between the two. */
final class KilledBetweenCommands implements Experiment {
  private static long patienceMillis(Settings settings) {
    return 1000 + 2 * settings.loadMillis();
  }

  @Override
  public String name() {
    return "setnx-then-expire";
  }

  @Override
  public String summary() {
    return "lock by SETNX, then EXPIRE; the holder is killed between the two";
  }

  @Override
  public String expected(Settings settings) {
    return "locked for ever: no TTL, no caller gets a value within "
        + patienceMillis(settings)
        + " ms";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.SETNX_THEN_EXPIRE);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Cell cell = stage.cell(name());
    Settings settings = stage.settings();
    stage.loadsAreUsual();
    stage.seedExpired(Strategy.SETNX_THEN_EXPIRE, cell);
    stage.countCommands();
    Round round = stage.askImpatiently(Strategy.SETNX_THEN_EXPIRE, cell, patienceMillis(settings));
    int holder = stage.firstProcess("holder of the lock", Report.BetweenCommands.class);
    round.awaitAllAsked();
    stage.worker(holder).kill();
    round.without(holder);
    Round.Result result = round.await();
    @Nullable Long commands = stage.commands();
    List<Load> loads = stage.loads(cell);
    return Finding.of(
        loads,
        result.answers(),
        0,
        commands,
        result.longestStallMillis(),
        Verdicts.setnxThenExpire(
            stage.redis().pttl(stage.lockKey(cell)),
            Measures.withValue(result.answers()),
            result.answers().size(),
            patienceMillis(settings)));
  }
}
