/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.simulation.Linearizability.Operation;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Histories of a register that holds one text. */
final class LinearizabilityTest {
  private static Operation<String> write(String value, long call, long answer) {
    return new Operation<>("write " + value, call, answer, (state, open) -> value);
  }

  private static Operation<String> read(String value, long call, long answer) {
    return new Operation<>(
        "read " + value, call, answer, (state, open) -> state.equals(value) ? state : null);
  }

  @Test
  void check_oneAfterTheOther_isInOrder() {
    assertThat(
            Linearizability.check("", List.of(read("", 0, 1), write("a", 2, 3), read("a", 4, 5))))
        .isNull();
  }

  @Test
  void check_aReadOfWhatWasReplacedBeforeItBegan_hasNoOrder() {
    assertThat(
            Linearizability.check("", List.of(write("a", 0, 1), write("b", 2, 3), read("a", 4, 5))))
        .contains("read a");
  }

  @Test
  void check_writesAtTheSameTime_mayBeInEitherOrder() {
    for (String last : List.of("a", "b")) {
      assertThat(
              Linearizability.check(
                  "", List.of(write("a", 0, 10), write("b", 0, 10), read(last, 20, 21))))
          .isNull();
    }
  }

  @Test
  void check_readsThatSawThemInTwoOrders_haveNone() {
    assertThat(
            Linearizability.check(
                "",
                List.of(
                    write("a", 0, 10), write("b", 0, 10), read("a", 11, 12), read("b", 13, 14))))
        .isNotNull();
  }

  @Test
  void check_aWriteWithoutAnswer_mayHaveHappenedLateOrNever() {
    Operation<String> open = write("a", 0, Long.MAX_VALUE);
    assertThat(Linearizability.check("", List.of(open, read("", 5, 6)))).isNull();
    assertThat(Linearizability.check("", List.of(open, read("", 5, 6), read("a", 7, 8)))).isNull();
    assertThat(Linearizability.check("", List.of(open, read("a", 5, 6), read("", 7, 8))))
        .isNotNull();
  }

  @Test
  void check_aWriteWithoutAnswer_hasNotHappenedBeforeItsCall() {
    assertThat(Linearizability.check("", List.of(read("a", 0, 1), write("a", 2, Long.MAX_VALUE))))
        .isNotNull();
  }
}
