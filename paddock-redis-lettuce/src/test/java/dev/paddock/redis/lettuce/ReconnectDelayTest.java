/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.testkit.VirtualEnvironment;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ReconnectDelayTest {
  @Test
  void delay_isBetween10MillisAnd1Second_andVaries() {
    ReconnectDelay delay = new ReconnectDelay(new VirtualEnvironment(1));

    for (long attempt : new long[] {0, 1, 2, 7, 30, 63, 64, 1_000_000, Long.MAX_VALUE}) {
      Set<Duration> drawn = new HashSet<>();
      for (int i = 0; i < 1000; i++) {
        drawn.add(delay.createDelay(attempt));
      }
      assertThat(drawn)
          .allMatch(d -> d.toMillis() >= 10 && d.toMillis() <= 1000)
          .as("attempt %s", attempt)
          .hasSizeGreaterThanOrEqualTo(attempt == 0 ? 1 : 5);
    }
  }

  @Test
  void delay_grows() {
    ReconnectDelay delay = new ReconnectDelay(new VirtualEnvironment(1));
    long first = 0;
    long tenth = 0;
    for (int i = 0; i < 1000; i++) {
      first = Math.max(first, delay.createDelay(1).toMillis());
      tenth = Math.max(tenth, delay.createDelay(10).toMillis());
    }

    assertThat(first).isLessThanOrEqualTo(20);
    assertThat(tenth).isGreaterThan(500);
  }
}
