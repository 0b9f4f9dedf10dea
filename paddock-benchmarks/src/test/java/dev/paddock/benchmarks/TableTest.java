/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TableTest {
  @Test
  void table_ofAllKindsOfLines_showsWhatThereIs() {
    Pairs pairs = new Pairs();
    pairs.add(12_345, 10_000);
    pairs.add(9_000, 10_000);
    List<Line> lines =
        List.of(
            Line.of(Figure.HIT, "1 thread", "/s", pairs, Target.ratioAtLeast(0.97)),
            Line.of(Figure.HERD, "loads", "", new double[] {2}, Target.atMost(1)),
            Line.of(Figure.HERD, "recipe", "ms", new double[] {1.5, 20, 30.25}, null));
    String rule = "-".repeat(112);
    assertThat(Table.draw(lines).lines())
        .containsExactly(
            "figure                                          Paddock        bound  ratio        "
                + " min-max  target        reached",
            rule,
            "hit: 1 thread                                 10,673 /s    10,000 /s   1.07      "
                + " 0.90-1.23  ratio >= 0.97 yes",
            rule,
            "herd: loads                                           2            -      -        "
                + "       -  <= 1          NO",
            "herd: recipe                                      20 ms            -      -      "
                + " 1.50-30.3  -             -");
  }

  @Test
  void number_ofAnySize_hasThreeDigitsAtLeastUnlessItIsWhole() {
    assertThat(Table.number(0)).isEqualTo("0");
    assertThat(Table.number(3)).isEqualTo("3");
    assertThat(Table.number(0.456)).isEqualTo("0.46");
    assertThat(Table.number(12.34)).isEqualTo("12.3");
    assertThat(Table.number(-12.34)).isEqualTo("-12.3");
    assertThat(Table.number(1234567.8)).isEqualTo("1,234,568");
  }

  @Test
  void target_asText_namesSideAndLimit() {
    assertThat(Target.ratioAtMost(1.15)).hasToString("ratio <= 1.15");
    assertThat(Target.ratioAtLeast(2)).hasToString("ratio >= 2");
    assertThat(Target.atMost(1024)).hasToString("<= 1024");
  }
}
