/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The slot of the key moves to another master in mid-load; callers come before and after. */
final class MovedSlot implements Experiment {
  private static final int QUESTIONS = 2;

  @Override
  public String name() {
    return "paddock-migrated";
  }

  @Override
  public String summary() {
    return "the key's slot moves to another master in mid-load";
  }

  @Override
  public String expected(Settings settings) {
    return "1 load, for all who ask before and after the move; stored at the new master";
  }

  @Override
  public Set<Topology> topologies() {
    return Set.of(Topology.CLUSTER);
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    Settings settings = stage.settings();
    OwnServers.WithSlots servers = stage.serversWithSlots();
    Cell cell = stage.cell(name());
    stage.loadsAreHeld();
    stage.seedExpired(Strategy.PADDOCK_FRESH, cell);
    stage.countCommands();
    Round before = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    Load load = stage.awaitBegin(cell, 1);
    before.awaitAllAsked();
    long moveMillis = servers.moveSlot(stage.valueKey(cell));
    Round after = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    after.awaitAllAsked();
    stage.letGo();
    Round.Result first = before.await();
    Round.Result second = after.await();
    stage.awaitFills(cell, 1);
    @Nullable Long commands = stage.commands();
    List<Report.Answer> answers = new ArrayList<>(first.answers());
    answers.addAll(second.answers());
    List<Load> loads = stage.loads(cell);
    int other = (load.process() + 1) % settings.processes();
    boolean stored = stage.storedVersion(other, cell) == loads.get(loads.size() - 1).version();
    // While a lease is at one end and its value would be at the other, nobody can renew it.
    long stallMillis =
        Math.max(moveMillis, Math.max(first.longestStallMillis(), second.longestStallMillis()));
    return Finding.of(
        loads,
        answers,
        Measures.loadedBefore(answers, before.startAtMicros()),
        commands,
        stallMillis,
        Verdicts.paddockMigrated(
            QUESTIONS * settings.allCallers(),
            loads.size(),
            answers,
            stored,
            servers.arrived(stage.valueKey(cell))));
  }
}
