/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.List;
import java.util.stream.Stream;

/** What runs inside the loader of a mutant; everything passes in and out as text and numbers. */
public final class MutantRun {
  private MutantRun() {}

  /**
   * Runs worlds until an invariant falls.
   *
   * @return the name of the invariant, the seed, the number of worlds and what was seen; empty if
   *     none fell
   */
  public static List<String> run(List<String> worlds, long first, long count, int threads) {
    Simulator simulator =
        new Simulator(
            Stream.of(Worlds.values()).filter(kind -> worlds.contains(kind.name())).toList());
    simulator.run(first, count, threads, () -> false);
    if (simulator.found().isEmpty()) {
      return List.of();
    }
    Found found = simulator.found().get(0);
    return List.of(
        found.violation().invariant().name(),
        Long.toString(found.seed()),
        Long.toString(simulator.worlds()),
        found.violation().what());
  }
}
