/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What happens in one world, made from its seed: operations and faults with their times. Which
 * kinds of faults there are is drawn first ("swarm testing", Groce et al., ISSTA 2012), so that
 * some worlds have only a few of them, but those often.
 *
 * @param steps in the order of their times
 */
record Plan(List<Step> steps) {
  /**
   * Makes a plan.
   *
   * @param operations kinds to choose from; one that is listed twice is chosen twice as often
   * @param faults kinds that may be switched on
   * @param processes how many there are
   * @param servers how many there are
   */
  static Plan draw(
      SplittableRandom random, Kind[] operations, Kind[] faults, int processes, int servers) {
    List<Step> steps = new ArrayList<>();
    long lengthMicros = 1_000L * random.nextInt(500, 8_000);
    int count = random.nextInt(20, 61);
    for (int i = 0; i < count; i++) {
      steps.add(
          new Step(
              steps.size(),
              random.nextLong(lengthMicros),
              operations[random.nextInt(operations.length)],
              random.nextInt(processes),
              random.nextInt(1_000),
              0));
    }
    double often = random.nextDouble();
    for (Kind kind : faults) {
      if (random.nextDouble() >= 0.15 + 0.35 * often) {
        continue;
      }
      boolean rate = isRate(kind);
      int times = rate ? 1 : random.nextInt(1, 4);
      for (int i = 0; i < times; i++) {
        boolean ofServer = isOfServer(kind);
        steps.add(
            new Step(
                steps.size(),
                rate ? 0 : random.nextLong(lengthMicros),
                kind,
                random.nextInt(ofServer ? servers : processes),
                random.nextInt(1_000),
                spanMicros(random)));
      }
    }
    steps.sort(Comparator.comparingLong(Step::atMicros).thenComparingInt(Step::number));
    return new Plan(List.copyOf(steps));
  }

  /** A few milliseconds or a few seconds: what is shorter and what is longer than a lease. */
  private static long spanMicros(SplittableRandom random) {
    return (long) Math.pow(10, 3 + 3.5 * random.nextDouble());
  }

  /** Whether it is there all the time, as often as its amount says. */
  static boolean isRate(Kind kind) {
    return switch (kind) {
      case SLOW,
          LOST_REQUEST,
          LOST_REPLY,
          BROKEN,
          DUPLICATE,
          REORDER,
          RATE,
          FAILING_LOAD,
          LONG_LOAD ->
          true;
      default -> false;
    };
  }

  private static boolean isOfServer(Kind kind) {
    return switch (kind) {
      case SERVER_STEP,
          SERVER_DOWN,
          RESTART,
          RESTART_LOST,
          ROLLED_BACK,
          SCRIPT_FLUSH,
          READONLY,
          OOM,
          EVICTION,
          FLUSHALL ->
          true;
      default -> false;
    };
  }

  boolean has(Kind kind) {
    return steps.stream().anyMatch(step -> step.kind() == kind);
  }

  /** How often a fault strikes that is there all the time; 0 if it is not. */
  double rate(Kind kind) {
    for (Step step : steps) {
      if (step.kind() == kind) {
        return 0.01 + step.amount() / 1_000.0 * 0.15;
      }
    }
    return 0;
  }

  /** The same with some of the steps only. */
  Plan keep(Set<Integer> numbers) {
    return new Plan(steps.stream().filter(step -> numbers.contains(step.number())).toList());
  }
}
