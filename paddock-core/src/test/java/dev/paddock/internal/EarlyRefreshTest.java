/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The figures of XFetch without a lease, as the paper has them: e^(1/beta) recomputations for each
 * expiry, the first one delta * beta * (ln(r * delta * beta) + 0.5772) before it.
 */
final class EarlyRefreshTest {
  private static final int EXPIRIES = 4_000;
  private static final long SPAN_MILLIS = 60_000;
  private static final long LOAD_MILLIS = 1_000;
  private static final double REQUESTS_PER_MILLI = 0.1;

  private record Figures(double recomputations, double gapSeconds) {}

  /** Requests at random moments; whoever draws a refresh starts one, until the first has ended. */
  private static Figures alone(double beta, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long recomputations = 0;
    double gaps = 0;
    for (int i = 0; i < EXPIRIES; i++) {
      double left = SPAN_MILLIS;
      double until = Double.NEGATIVE_INFINITY;
      while (left > until) {
        left += Math.log(1 - random.nextDouble()) / REQUESTS_PER_MILLI;
        boolean due =
            EarlyRefresh.isDue(
                (long) Math.ceil(left), SPAN_MILLIS, LOAD_MILLIS, beta, random.nextDouble());
        if (left > until && due) {
          recomputations++;
          if (until == Double.NEGATIVE_INFINITY) {
            gaps += left;
            until = left - LOAD_MILLIS;
          }
        }
      }
    }
    return new Figures((double) recomputations / EXPIRIES, gaps / EXPIRIES / 1_000);
  }

  @ParameterizedTest
  @CsvSource({"1, 2.72, 0.10", "0.5, 7.39, 0.27", "2, 1.65, 0.06"})
  void alone_itRecomputesAsOftenAsThePaperSays(double beta, double expected, double tolerance) {
    for (long seed = 1; seed <= 3; seed++) {
      assertThat(alone(beta, seed).recomputations).isCloseTo(expected, within(tolerance));
    }
  }

  @Test
  void alone_itsGapIsThatOfThePaper() {
    for (long seed = 1; seed <= 3; seed++) {
      assertThat(alone(1, seed).gapSeconds).isCloseTo(5.18, within(0.10));
    }
  }

  @Test
  void expired_isDueWhateverIsDrawn() {
    assertThat(EarlyRefresh.isDue(0, SPAN_MILLIS, LOAD_MILLIS, 1, 0)).isTrue();
    assertThat(EarlyRefresh.isDue(1, SPAN_MILLIS, LOAD_MILLIS, 1, 0)).isFalse();
  }

  @Test
  void loadTime_countsAsAtLeastAMillisecond_andAtMostATenthOfTheTtl() {
    double half = 1 - Math.exp(-1);
    assertThat(EarlyRefresh.isDue(1, SPAN_MILLIS, 0, 1, half + 1e-9)).isTrue();
    assertThat(EarlyRefresh.isDue(2, SPAN_MILLIS, 0, 1, half + 1e-9)).isFalse();
    assertThat(EarlyRefresh.isDue(6_000, SPAN_MILLIS, 50_000, 1, half + 1e-9)).isTrue();
    assertThat(EarlyRefresh.isDue(6_001, SPAN_MILLIS, 50_000, 1, half + 1e-9)).isFalse();
  }
}
