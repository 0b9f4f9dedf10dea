/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class StoreKeyTest {
  @Test
  void toString_withControlCharacters_writesNoLineOfItsOwn() {
    assertThat(StoreKey.of("posts:a\nERROR all is lost\u0000"))
        .hasToString("posts:a\\u000aERROR all is lost\\u0000");
  }

  @Test
  void toString_usualKey_isTheKey() {
    assertThat(StoreKey.of("posts:{a b} \u00e9")).hasToString("posts:{a b} \u00e9");
  }
}
