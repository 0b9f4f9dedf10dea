/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FencedRowTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a;drop table x", "a--", "\"a\"", "1a", "a.", ".a", "ä"})
  void names_thatAreNone_areRefused(String name) {
    assertThatThrownBy(() -> FencedRow.in(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("letters, digits");
    assertThatThrownBy(() -> FencedRow.in("t").key(name))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FencedRow.in("t").values(name))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FencedRow.in("t").fence("fence", name))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> FenceTable.named(name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void build_withoutKey_isRefused() {
    assertThatThrownBy(() -> FencedRow.in("t").values("v").build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("key(");
  }
}
