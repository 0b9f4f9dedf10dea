/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LeaseNodesTest {
  @Test
  void encoded_anyName_isOnePathElementOfItsOwn() {
    assertThat(LeaseNodes.encoded("a-b_C9")).isEqualTo("a-b_C9");
    assertThat(LeaseNodes.encoded("..")).isEqualTo("%2E%2E");
    assertThat(LeaseNodes.encoded("a/b")).isEqualTo("a%2Fb");
    assertThat(LeaseNodes.encoded("%2F")).isEqualTo("%252F");
    assertThat(LeaseNodes.encoded("ä€")).isEqualTo("%C3%A4%E2%82%AC");
  }

  @Test
  void data_foreign_isAnOwnerOfItsOwn() {
    assertThat(LeaseNodes.ownerIn("something else")).isEqualTo("something");
    assertThat(LeaseNodes.ownerIn("x")).isEqualTo("x");
    assertThat(LeaseNodes.leaseMillisIn("something else")).isZero();
    assertThat(LeaseNodes.leaseMillisIn("a 5000")).isEqualTo(5000);
  }
}
