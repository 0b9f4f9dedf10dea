/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class PairsTest {
  @Test
  void median_ofAnOddCount_isTheOneInTheMiddle() {
    assertThat(Pairs.median(9, 1, 2)).isEqualTo(2);
  }

  @Test
  void median_ofAnEvenCount_isTheMeanOfTheTwoInTheMiddle() {
    assertThat(Pairs.median(9, 1, 2, 4)).isEqualTo(3);
  }

  @Test
  void median_ofValues_leavesThemInTheirOrder() {
    double[] values = {3, 1, 2};
    Pairs.median(values);
    assertThat(values).containsExactly(3, 1, 2);
  }

  @Test
  void median_ofNothing_isRefused() {
    assertThatThrownBy(Pairs::median).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void quantile_ofAHundred_isTheSmallestThatSoManyDoNotExceed() {
    double[] values = new double[100];
    for (int i = 0; i < 100; i++) {
      values[i] = 100 - i;
    }
    assertThat(Pairs.quantile(0.5, values)).isEqualTo(50);
    assertThat(Pairs.quantile(0.99, values)).isEqualTo(99);
    assertThat(Pairs.quantile(1, values)).isEqualTo(100);
    assertThat(Pairs.quantile(0.5, 1, 2, 3)).isEqualTo(2);
  }

  @Test
  void quantile_outOfRange_isRefused() {
    assertThatThrownBy(() -> Pairs.quantile(0, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Pairs.quantile(1.1, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Pairs.quantile(0.5)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ratio_ofPairsOnANoisyMachine_isTheMedianOfTheirRatios() {
    Pairs pairs = new Pairs();
    pairs.add(10, 20);
    pairs.add(100, 200);
    pairs.add(30, 20);
    assertThat(pairs.ours()).isEqualTo(30);
    assertThat(pairs.bound()).isEqualTo(20);
    assertThat(pairs.ratio()).isEqualTo(0.5);
    assertThat(pairs.minRatio()).isEqualTo(0.5);
    assertThat(pairs.maxRatio()).isEqualTo(1.5);
    assertThat(pairs.size()).isEqualTo(3);
  }
}
