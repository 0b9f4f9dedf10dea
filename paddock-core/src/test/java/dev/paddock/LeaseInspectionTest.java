/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.LeaseInspection.Node;
import dev.paddock.LeaseInspection.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LeaseInspectionTest {
  private static LeaseInspection of(String node, Verdict verdict, @Nullable String owner) {
    return new LeaseInspection(
        "job",
        verdict,
        List.of(new Node(node, owner, owner == null ? 0 : 7, Duration.ZERO, null, null)));
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "HELD,a,HELD,b,TWO_HOLDERS",
        "HELD,a,HELD,a,HELD",
        "HELD,a,FREE,-,HELD",
        "FREE,-,HELD,b,HELD",
        "FREE,-,FREE,-,FREE",
        "FREE,-,UNKNOWN,-,UNKNOWN",
        "UNKNOWN,-,HELD,b,UNKNOWN",
        "SPLIT,a,FREE,-,SPLIT",
        "TWO_HOLDERS,a,UNKNOWN,-,TWO_HOLDERS"
      })
  void beside_twoServers_saysWhatTheyKnowTogether(
      Verdict one,
      @Nullable String owner,
      Verdict other,
      @Nullable String otherOwner,
      Verdict expected) {
    LeaseInspection both = of("new:6379", one, owner).beside(of("old:6379", other, otherOwner));
    assertThat(both.verdict()).isEqualTo(expected);
    assertThat(both.nodes()).extracting(Node::node).containsExactly("new:6379", "old:6379");
  }

  @Test
  void beside_anotherLease_isRefused() {
    LeaseInspection other = new LeaseInspection("other", Verdict.FREE, List.of());
    assertThatThrownBy(() -> of("n", Verdict.FREE, null).beside(other))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("other");
  }

  @Test
  void nodes_areCopied() {
    List<Node> nodes = new ArrayList<>();
    LeaseInspection inspection = new LeaseInspection("job", Verdict.FREE, nodes);
    nodes.add(new Node("n", null, 0, Duration.ZERO, null, null));
    assertThat(inspection.nodes()).isEmpty();
  }
}
