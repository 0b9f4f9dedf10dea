/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The process that loads is stopped until its lease is over and another loads; then it goes on and
 * offers what it loaded. Once after the newer value was stored, once before.
 */
final class PausedHolder implements Experiment {
  @Override
  public String name() {
    return "paddock-paused";
  }

  @Override
  public String summary() {
    return "the process that loads is stopped past its lease (SIGSTOP), then goes on";
  }

  @Override
  public String expected(Settings settings) {
    return "its late fill never replaces a newer value: SUPERSEDED after the newer fill,"
        + " STORED_LATE before it";
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH);
  }

  @Override
  public Finding run(Stage stage) throws IOException, InterruptedException {
    stage.countCommands();
    Part after = run(stage, stage.cell(name() + "-after"), true);
    Part before = run(stage, stage.cell(name() + "-before"), false);
    @Nullable Long commands = stage.commands();
    List<Load> loads = new ArrayList<>(after.loads());
    loads.addAll(before.loads());
    List<Report.Answer> answers = new ArrayList<>(after.answers());
    answers.addAll(before.answers());
    return Finding.of(
        loads,
        answers,
        after.older() + before.older(),
        commands,
        Math.max(after.longestStallMillis(), before.longestStallMillis()),
        Verdicts.paddockPaused(
            loads.size(),
            after.lateFill(),
            before.lateFill(),
            after.newestStored() && before.newestStored(),
            after.older() + before.older()));
  }

  private static Part run(Stage stage, Cell cell, boolean newerFirst)
      throws IOException, InterruptedException {
    stage.loadsAreHeld();
    stage.seedExpired(Strategy.PADDOCK_FRESH, cell);
    Round round = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    Load paused = stage.awaitBegin(cell, 1);
    round.awaitAllAsked();
    WorkerProcess holder = stage.worker(paused.process());
    holder.pause();
    // Nobody else gets the lease before it is over.
    Load newer = stage.awaitBegin(cell, 2);
    String lateFill;
    if (newerFirst) {
      stage.letGo(paused.version());
      stage.awaitFills(cell, 1);
      holder.resume();
      stage.letGo();
      lateFill = stage.awaitFills(cell, 2).get(1);
    } else {
      holder.resume();
      stage.letGo(newer.version());
      lateFill = stage.awaitFills(cell, 1).get(0);
      stage.letGo();
      stage.awaitFills(cell, 2);
    }
    Round.Result first = round.await();
    List<Load> loads = stage.loads(cell);
    long newest = loads.get(loads.size() - 1).version();
    boolean newestStored = stage.storedVersion(newer.process(), cell) == newest;
    Round.Result later = stage.askOnce(Strategy.PADDOCK_FRESH, cell).await();
    int older = (int) later.answers().stream().filter(a -> a.version() != newest).count();
    List<Report.Answer> answers = new ArrayList<>(first.answers());
    answers.addAll(later.answers());
    return new Part(
        loads,
        answers,
        lateFill,
        newestStored,
        older,
        Math.max(first.longestStallMillis(), later.longestStallMillis()));
  }

  private record Part(
      List<Load> loads,
      List<Report.Answer> answers,
      String lateFill,
      boolean newestStored,
      int older,
      long longestStallMillis) {}
}
