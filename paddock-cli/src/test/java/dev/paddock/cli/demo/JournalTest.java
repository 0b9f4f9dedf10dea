/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class JournalTest {
  private final Journal journal = new Journal();

  @Test
  void await_timeIsUp_saysWhatWasBeingDoneAndWhatToChange() {
    journal.begin("the warm-up", Duration.ZERO);
    assertThatExceptionOfType(DemoException.class)
        .isThrownBy(() -> journal.await("answer for each caller", entries -> null))
        .withMessage(
            "the warm-up was given up after 0 s: still no answer for each caller; try fewer"
                + " --processes or --callers");
  }

  @Test
  void goOn_reportsThatCame_areKept() throws InterruptedException {
    journal.begin("the start", Duration.ZERO);
    journal.add(0, new Report.Ready());
    journal.goOn("the warm-up", Duration.ZERO);
    int count = journal.await("report", entries -> entries.isEmpty() ? null : entries.size());
    assertThat(count).isEqualTo(1);
  }

  @Test
  void begin_reportsThatCame_areForgotten() {
    journal.add(0, new Report.Ready());
    journal.begin("paddock-wait", Duration.ZERO);
    assertThat(journal.entries()).isEmpty();
  }
}
