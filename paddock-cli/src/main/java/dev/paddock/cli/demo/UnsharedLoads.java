/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A lock that runs out before the load ends, while more callers queue for it; see {@link
 * CacheAside.Lock} for why the way of releasing decides. Lease, load times, callers and length of
 * the run are the same for both ways.
 */
final class UnsharedLoads implements Experiment {
  /** For how many loads' time callers queue. */
  private static final int LOADS_LONG = 15;

  private final String name;
  private final Strategy strategy;
  private final String summary;
  private final Function<Settings, String> expected;
  private final BiFunction<List<Load>, Long, Verdict> judge;

  UnsharedLoads(
      String name,
      Strategy strategy,
      String summary,
      Function<Settings, String> expected,
      BiFunction<List<Load>, Long, Verdict> judge) {
    this.name = name;
    this.strategy = strategy;
    this.summary = summary;
    this.expected = expected;
    this.judge = judge;
  }

  /**
   * Returns how many leases fit into the run.
   *
   * @param settings the sizes
   * @return their number
   */
  static long leasesLong(Settings settings) {
    return LOADS_LONG * settings.loadMillis() / settings.leaseMillis();
  }

  /**
   * Returns how many loads run at once if locks are granted one per lease.
   *
   * @param settings the sizes
   * @return their number, if no load takes longer than it should
   */
  static long usualOverlap(Settings settings) {
    return 2 * settings.loadMillis() / settings.leaseMillis() + 1;
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
    Cell cell = stage.cell(name);
    stage.loadsAreUneven();
    stage.countCommands();
    Round round = stage.askAgain(strategy, cell);
    WallClock.sleepUntil(
        round.startAtMicros()
            + TimeUnit.MILLISECONDS.toMicros(LOADS_LONG * stage.settings().loadMillis()));
    round.stop();
    Round.Result result = round.await();
    @Nullable Long commands = stage.commands();
    List<Load> loads = stage.loads(cell);
    return Finding.of(
        loads,
        result.answers(),
        0,
        commands,
        result.longestStallMillis(),
        judge.apply(loads, stage.settings().leaseMillis()));
  }
}
