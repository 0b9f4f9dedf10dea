/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.internal.Limits;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LimitsTest {

  @ParameterizedTest
  @CsvSource({
    "PT0S, 0",
    "PT0.000000001S, 1",
    "PT0.000999999S, 1",
    "PT0.001S, 1",
    "PT0.001000001S, 2",
    "PT0.999S, 999",
    "PT0.999000001S, 1000",
    "PT0.999999999S, 1000",
    "PT1S, 1000",
    "PT87600H, 315360000000"
  })
  void millis_areRoundedUp_soThatNothingBecomesZero(Duration duration, long millis) {
    assertThat(Limits.millisRoundedUp(duration)).isEqualTo(millis);
  }

  @Test
  void millis_random_areTheLeastNotBelow() {
    Random random = new Random(3);
    for (int i = 0; i < 10_000; i++) {
      Duration duration =
          Duration.ofSeconds(random.nextInt(315_360_000), random.nextInt(1_000_000_000));

      long millis = Limits.millisRoundedUp(duration);

      assertThat(Duration.ofMillis(millis)).isGreaterThanOrEqualTo(duration);
      assertThat(Duration.ofMillis(millis - 1)).isLessThan(duration);
    }
  }
}
