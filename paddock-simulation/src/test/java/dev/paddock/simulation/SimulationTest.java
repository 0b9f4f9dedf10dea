/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Worlds of fixed seeds, and of fresh ones for as long as {@code -Dpaddock.simulation.seconds}
 * says. A failure names the command that replays it.
 */
final class SimulationTest {
  private static final long SECONDS = Long.getLong("paddock.simulation.seconds", 120);
  private static final int FIXED = 400;

  private static void run(List<Worlds> kinds, long first, long count, long seconds) {
    Simulator simulator = new Simulator(kinds);
    long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    simulator.run(
        first,
        count,
        Runtime.getRuntime().availableProcessors(),
        () -> System.nanoTime() - end > 0);
    for (Found each : simulator.found()) {
      assertThat(each.violation()).as(each.command()).isNull();
    }
    assertThat(simulator.worlds()).isPositive();
  }

  @ParameterizedTest
  @EnumSource(Worlds.class)
  void worlds_ofFixedSeeds_keepTheInvariants(Worlds kind) {
    run(List.of(kind), 1, FIXED, 100_000);
  }

  @Test
  void worlds_ofFreshSeeds_keepTheInvariants() {
    long first = new SplittableRandom().nextLong(1L << 40);
    System.out.println("Simulation from seed " + first + " on, " + SECONDS + " s");
    run(List.of(Worlds.values()), first, Long.MAX_VALUE / 2, SECONDS);
  }

  /** Seeds that once brought a fault to light; docs/internals/verification.md tells which. */
  @ParameterizedTest
  @CsvSource({
    "CACHE, 819",
    "CACHE, 3198",
    "CACHE, 1048972690119",
    "CACHE, 322880111641",
    "BULK, 222896380064",
    "TAGS, 481720269056"
  })
  void worlds_thatOnceFailed_keepTheInvariants(Worlds kind, long seed) {
    assertThat(Simulator.run(kind, seed, null, false).violation()).isNull();
  }

  @ParameterizedTest
  @EnumSource(Worlds.class)
  void world_ofTheSameSeed_takesTheSameCourse(Worlds kind) {
    for (long seed = 1; seed <= 20; seed++) {
      List<String> once = Simulator.run(kind, seed, null, true).trace.lines();
      List<String> again = Simulator.run(kind, seed, null, true).trace.lines();
      assertThat(once).hasSizeGreaterThan(20);
      assertThat(again).as("seed %s", seed).isEqualTo(once);
    }
  }

  /** Worlds in which nothing goes wrong, or nobody gets anything, would show nothing. */
  @Test
  void worlds_ofAHundredSeeds_meetEveryFault() {
    for (Worlds kind : Worlds.values()) {
      Simulator simulator = new Simulator(List.of(kind));
      simulator.run(1, 100, 2, () -> false);
      Set<Kind> met = simulator.injected().keySet();
      for (Kind fault : Kind.values()) {
        boolean ofCaches = fault == Kind.FAILING_LOAD || fault == Kind.LONG_LOAD;
        boolean there =
            switch (kind) {
              case CACHE, BULK, OPTIONS -> true;
              case TAGS -> fault != Kind.SERVER_STEP;
              case LEASE -> !ofCaches;
              case REDLOCK -> !ofCaches && fault != Kind.EVICTION;
            };
        // What keeps no record of itself: the order of messages.
        if (fault.isFault() && there && fault != Kind.REORDER) {
          assertThat(met).as("faults of the world %s", kind).contains(fault);
        }
      }
    }
    int grants = 0;
    for (long seed = 1; seed <= 50; seed++) {
      LeaseWorld world = (LeaseWorld) Simulator.run(Worlds.REDLOCK, seed, null, false);
      grants += world.grants();
    }
    assertThat(grants).isGreaterThan(50 * 5);
  }
}
