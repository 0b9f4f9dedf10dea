/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The value is invalidated, because the votes have changed, while it is being loaded from the old
 * votes. Beside it the usual recipe: cache-aside that deletes the key on a change.
 */
final class InvalidatedInMidLoad implements Experiment {
  @Override
  public String name() {
    return "paddock-invalidated";
  }

  @Override
  public String summary() {
    return "invalidated in mid-load (and, for comparison, cache-aside with DEL)";
  }

  @Override
  public String expected(Settings settings) {
    return "no old value after invalidate returned: fill INVALIDATED, next one STORED; the recipe"
        + " serves old ones";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH, Strategy.IN_PROCESS);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Cell cell = stage.cell(name());
    stage.loadsAreHeld();
    stage.seedExpired(Strategy.PADDOCK_FRESH, cell);
    stage.countCommands();
    Round before = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    Load old = stage.awaitBegin(cell, 1);
    before.awaitAllAsked();
    int other = (old.process() + 1) % stage.settings().processes();
    stage.invalidate(other, Strategy.PADDOCK_FRESH, cell);
    Round during = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    during.awaitAllAsked();
    stage.letGo(old.version());
    stage.awaitBegin(cell, 2);
    stage.letGo();
    List<Report.Answer> answers = new ArrayList<>(before.await().answers());
    Round.Result result = during.await();
    answers.addAll(result.answers());
    List<String> fills = stage.awaitFills(cell, 2);
    Round.Result after = stage.askOnce(Strategy.PADDOCK_FRESH, cell).await();
    answers.addAll(after.answers());
    @Nullable Long commands = stage.commands();
    List<Load> loads = stage.loads(cell);
    int outdated = Measures.outdated(answers, stage.invalidations(cell));

    Cell recipe = stage.cell(name() + "-recipe");
    List<Report.Answer> recipeAnswers = runRecipe(stage, recipe);
    return Finding.of(
        loads,
        answers,
        outdated,
        commands,
        Math.max(result.longestStallMillis(), after.longestStallMillis()),
        Verdicts.paddockInvalidated(
            outdated,
            answers.size(),
            Measures.outdated(recipeAnswers, stage.invalidations(recipe)),
            recipeAnswers.size(),
            fills));
  }

  private static List<Report.Answer> runRecipe(Stage stage, Cell cell) throws InterruptedException {
    stage.loadsAreHeld();
    Round before = stage.askOnce(Strategy.IN_PROCESS, cell);
    stage.awaitBegin(cell, stage.settings().processes());
    stage.invalidate(0, Strategy.IN_PROCESS, cell);
    stage.letGo();
    before.await();
    return stage.askOnce(Strategy.IN_PROCESS, cell).await().answers();
  }
}
