/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class JitterTest {
  @Test
  void manyKeysOfOneTtl_expireEvenlyOverTheJitter() {
    SplittableRandom random = new SplittableRandom(7);
    int keys = 100_000;
    long ttl = 300_000;
    int[] expiries = new int[301];
    for (int i = 0; i < keys; i++) {
      expiries[(int) (CacheEngine.jittered(ttl, 0.1, random.nextDouble()) / 1_000)]++;
    }
    // A tenth of 300 s: 3,333 a second on average instead of all in one.
    for (int second = 0; second <= 300; second++) {
      if (second >= 270 && second < 300) {
        assertThat(expiries[second]).as("second %s", second).isBetween(3_000, 3_700);
      } else {
        assertThat(expiries[second]).as("second %s", second).isLessThan(10);
      }
    }
  }

  @Test
  void ttl_isNeverLonger_norBelowAMillisecond() {
    assertThat(CacheEngine.jittered(1_000, 0, 0.99)).isEqualTo(1_000);
    assertThat(CacheEngine.jittered(1_000, 0.5, 0)).isEqualTo(1_000);
    assertThat(CacheEngine.jittered(1_000, 0.5, 0.999_999)).isEqualTo(500);
    assertThat(CacheEngine.jittered(1, 0.5, 0.99)).isEqualTo(1);
  }
}
