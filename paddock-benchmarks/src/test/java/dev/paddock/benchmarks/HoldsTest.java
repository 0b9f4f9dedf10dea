/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class HoldsTest {
  @Test
  void holds_oneAfterTheOther_areMeasured() {
    // The fourth is asked for when nobody waits any more, so its gap is no hand-over.
    Holds holds =
        new Holds(
            List.of(
                new Hold(0, 130, 140, 3),
                new Hold(0, 0, 100, 1),
                new Hold(10, 101, 120, 2),
                new Hold(500, 501, 510, 4)));
    assertThat(holds.count()).isEqualTo(4);
    assertThat(holds.handOverMicros(0.5)).isEqualTo(1);
    assertThat(holds.handOverMicros(1)).isEqualTo(10);
    assertThat(holds.longestWaitMicros()).isEqualTo(130);
    assertThat(holds.perSecond(0, 500)).isEqualTo(6000);
  }

  @Test
  void holds_thatOverlap_areRefused() {
    List<Hold> two = List.of(new Hold(0, 0, 100, 0), new Hold(0, 99, 150, 0));
    assertThatThrownBy(() -> new Holds(two)).hasMessageContaining("at once");
  }

  @Test
  void holds_whoseTokensDoNotGrow_areRefused() {
    List<Hold> two = List.of(new Hold(0, 0, 100, 2), new Hold(0, 101, 150, 2));
    assertThatThrownBy(() -> new Holds(two)).hasMessageContaining("did not grow");
  }

  @Test
  void handOver_whereNobodyWaited_isRefused() {
    Holds alone = new Holds(List.of(new Hold(0, 0, 100, 0)));
    assertThatThrownBy(() -> alone.handOverMicros(0.5)).hasMessageContaining("nobody");
  }
}
