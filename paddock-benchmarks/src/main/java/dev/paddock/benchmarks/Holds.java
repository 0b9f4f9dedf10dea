/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The holds of one lease by all processes, in their order.
 *
 * <p>A way that lets two hold at once is no faster way, it is wrong: making this fails then.
 */
final class Holds {
  private final List<Hold> inOrder;

  /**
   * Puts holds in order, and checks that there was one at a time.
   *
   * @param holds in any order
   * @throws BenchmarkException if two overlap, or a token is not greater than the one before
   */
  Holds(List<Hold> holds) {
    inOrder =
        holds.stream()
            .sorted(
                Comparator.comparingLong(Hold::beganMicros).thenComparingLong(Hold::endedMicros))
            .toList();
    for (int i = 1; i < inOrder.size(); i++) {
      Hold before = inOrder.get(i - 1);
      Hold hold = inOrder.get(i);
      if (hold.beganMicros() < before.endedMicros()) {
        throw new BenchmarkException("two held the lease at once: " + before + ", " + hold, null);
      }
      if (hold.token() != 0 && hold.token() <= before.token()) {
        throw new BenchmarkException("a token did not grow: " + before + ", " + hold, null);
      }
    }
  }

  int count() {
    return inOrder.size();
  }

  /** Holds per second, of those that began before the end. */
  double perSecond(long startMicros, long endMicros) {
    long within = inOrder.stream().filter(hold -> hold.beganMicros() < endMicros).count();
    return within * 1e6 / (endMicros - startMicros);
  }

  /** From the end of a hold to the beginning of the next, where somebody was waiting already. */
  double handOverMicros(double part) {
    // The earliest that any of the later holds was asked for.
    long[] asked = new long[inOrder.size()];
    long earliest = Long.MAX_VALUE;
    for (int i = inOrder.size() - 1; i >= 0; i--) {
      earliest = Math.min(earliest, inOrder.get(i).askedMicros());
      asked[i] = earliest;
    }
    double[] gaps = new double[Math.max(0, inOrder.size() - 1)];
    int count = 0;
    for (int i = 1; i < inOrder.size(); i++) {
      long freed = inOrder.get(i - 1).endedMicros();
      if (asked[i] < freed) {
        gaps[count++] = inOrder.get(i).beganMicros() - freed;
      }
    }
    if (count == 0) {
      throw new BenchmarkException("nobody has waited for the lease", null);
    }
    return Pairs.quantile(part, Arrays.copyOf(gaps, count));
  }

  double longestWaitMicros() {
    return inOrder.stream()
        .mapToLong(hold -> hold.beganMicros() - hold.askedMicros())
        .max()
        .orElseThrow(() -> new BenchmarkException("nobody has held the lease", null));
  }
}
