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

/**
 * The primary, or in a cluster the master of the key, is killed in mid-load, and a replica takes
 * its place while loads go on. Then the value is invalidated and all ask again.
 */
final class KilledMaster implements Experiment {
  @Override
  public String name() {
    return "paddock-failover";
  }

  @Override
  public String summary() {
    return "the key's master is killed in mid-load (SIGKILL), and replaced";
  }

  @Override
  public String expected(Settings settings) {
    return "all answered, by 1 load at a time in each process while Redis is away; once it is back,"
        + " invalidated and asked again, by 1 load for all";
  }

  @Override
  public Set<Topology> topologies() {
    return Set.of(Topology.SENTINEL, Topology.CLUSTER);
  }

  @Override
  public Set<Strategy> strategies() {
    return Set.of(Strategy.PADDOCK_FRESH);
  }

  @Override
  public Finding run(Stage stage) throws InterruptedException {
    OwnServers.WithStandIns servers = stage.serversWithStandIns();
    Cell cell = stage.cell(name());
    stage.loadsAreHeld();
    stage.seedExpired(Strategy.PADDOCK_FRESH, cell);
    stage.countCommands();
    Round round = stage.askOnce(Strategy.PADDOCK_FRESH, cell);
    stage.awaitBegin(cell, 1);
    round.awaitAllAsked();
    try {
      String killed = servers.killMaster(stage.valueKey(cell));
      servers.awaitStandIn();
      long replacedMicros = WallClock.micros();
      stage.awaitContact(cell);
      long awayMillis = TimeUnit.MICROSECONDS.toMillis(WallClock.micros() - replacedMicros);
      stage.letGo();
      Round.Result during = round.await();
      List<Load> loads = stage.loads(cell);
      stage.loadsAreUsual();
      stage.invalidate(0, Strategy.PADDOCK_FRESH, cell);
      Round.Result after = stage.askOnce(Strategy.PADDOCK_FRESH, cell).await();
      @Nullable Long commands = stage.commandsWithout(killed);
      List<Load> all = stage.loads(cell);
      List<Report.Answer> answers = new ArrayList<>(during.answers());
      answers.addAll(after.answers());
      int outdated = Measures.outdated(answers, stage.invalidations(cell));
      return Finding.of(
          all,
          answers,
          outdated,
          commands,
          after.longestStallMillis(),
          Verdicts.paddockFailover(
              stage.settings().allCallers(),
              loads,
              during.answers(),
              all.size() - loads.size(),
              after.answers(),
              outdated,
              awayMillis));
    } finally {
      stage.restore(servers);
    }
  }
}
