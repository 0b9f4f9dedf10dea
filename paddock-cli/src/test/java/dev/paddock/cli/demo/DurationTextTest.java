/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DurationTextTest {
  @ParameterizedTest
  @CsvSource({"200ms,200", "1s,1000", "1.5s,1500", "0.001s,1", "250.0ms,250", "0ms,0"})
  void parseMillis_durations_areRead(String text, long millis) {
    assertThat(DurationText.parseMillis(text)).isEqualTo(millis);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "200",
        "ms",
        "-1s",
        "1.5ms",
        "1 s",
        "1h",
        "1e3ms",
        "0.0001s",
        "9999999999s",
        "١s"
      })
  void parseMillis_anythingElse_isRefused(String text) {
    assertThat(DurationText.parseMillis(text)).isEqualTo(-1);
  }

  @Test
  void parseMillis_longest_doesNotOverflow() {
    assertThat(DurationText.parseMillis("999999999s")).isEqualTo(999_999_999_000L);
  }
}
