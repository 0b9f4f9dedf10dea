/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class LineTest {
  private static Line ratio(double ours, double bound, Target target) {
    Pairs pairs = new Pairs();
    pairs.add(ours, bound);
    return Line.of(Figure.HIT, "1 thread", "/s", pairs, target);
  }

  @Test
  void target_atItsLimit_isReached() {
    assertThat(ratio(97, 100, Target.ratioAtLeast(0.97)).reached()).isTrue();
    assertThat(ratio(96, 100, Target.ratioAtLeast(0.97)).reached()).isFalse();
    assertThat(ratio(150, 100, Target.ratioAtMost(1.5)).reached()).isTrue();
    assertThat(ratio(151, 100, Target.ratioAtMost(1.5)).reached()).isFalse();
  }

  @Test
  void target_ofAValue_looksAtPaddocksValue() {
    double[] values = {24, 24, 30};
    Line line = Line.of(Figure.HERD, "commands", "", values, Target.atMost(24));
    assertThat(line.reached()).isTrue();
    assertThat(line.min()).isEqualTo(24);
    assertThat(line.max()).isEqualTo(30);
    assertThat(Line.of(Figure.HERD, "", "", values, Target.atMost(23)).reached()).isFalse();
  }

  @Test
  void target_ofARatioWithoutABound_isRefused() {
    Line line = Line.of(Figure.HERD, "", "", new double[] {1}, Target.ratioAtMost(1));
    assertThatThrownBy(line::reached).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void json_ofALine_tellsWhetherTheTargetIsReached() {
    JsonNode json =
        JsonMapper.shared().readTree(Json.write(ratio(96, 100, Target.ratioAtLeast(0.97))));
    assertThat(json.get("figure").asString()).isEqualTo("hit");
    assertThat(json.get("ratio").asDouble()).isEqualTo(0.96);
    assertThat(json.get("reached").asBoolean()).isFalse();
    assertThat(json.get("target").get("limit").asDouble()).isEqualTo(0.97);
  }
}
