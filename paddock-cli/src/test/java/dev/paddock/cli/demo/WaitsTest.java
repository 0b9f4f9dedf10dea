/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class WaitsTest {
  private static final Load LOAD = new Load(0, 7, 10_000, 10_000, 210_000, false);

  private static Waits waitOf(long askedMicros, long answeredMicros, long version) {
    return Waits.of(
        List.of(new Report.Answer(askedMicros, answeredMicros, version, 1, null)), List.of(LOAD));
  }

  @Test
  void wait_forJustTheLoad_isTheRestOnly() {
    assertThat(waitOf(0, 215_000, 7)).isEqualTo(new Waits(15, 15, 15));
  }

  @Test
  void wait_askedInMidLoad_isTheTimeAfterTheLoad() {
    assertThat(waitOf(110_000, 213_000, 7)).isEqualTo(new Waits(3, 3, 3));
  }

  @Test
  void wait_valueOfAnotherLoad_isTheWholeTime() {
    assertThat(waitOf(0, 215_000, 8)).isEqualTo(new Waits(215, 215, 215));
  }

  @Test
  void wait_noValue_isTheWholeTime() {
    assertThat(waitOf(0, 40_000, 0)).isEqualTo(new Waits(40, 40, 40));
  }

  @Test
  void wait_askedAfterTheLoad_isTheWholeTime() {
    assertThat(waitOf(300_000, 302_000, 7)).isEqualTo(new Waits(2, 2, 2));
  }

  @Test
  void wait_clockWentBack_isZero() {
    assertThat(waitOf(300_000, 290_000, 7)).isEqualTo(new Waits(0, 0, 0));
  }

  @Test
  void percentiles_hundredAnswers_areByNearestRank() {
    List<Report.Answer> answers =
        IntStream.rangeClosed(1, 100)
            .mapToObj(i -> new Report.Answer(0, i * 1000L, 0, 0, null))
            .toList();
    assertThat(Waits.of(answers, List.of())).isEqualTo(new Waits(50, 99, 100));
  }

  @Test
  void percentiles_oneAnswer_areAllTheSame() {
    assertThat(Waits.of(List.of(new Report.Answer(0, 1600, 0, 0, null)), List.of()))
        .isEqualTo(new Waits(2, 2, 2));
  }

  @Test
  void percentiles_noAnswers_areZero() {
    assertThat(Waits.of(List.of(), List.of())).isEqualTo(new Waits(0, 0, 0));
  }
}
