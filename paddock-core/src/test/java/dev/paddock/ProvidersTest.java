/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class ProvidersTest {
  private static final String URI = "redis://user:sesame@localhost";

  @Test
  void only_theOneThatAccepts_isTaken() {
    assertThat(Providers.only(List.of("a", 1L), Long.class::isInstance, URI)).isEqualTo(1L);
    assertThat(Providers.only(List.<Object>of("a"), Long.class::isInstance, URI)).isNull();
  }

  @Test
  void only_ofSeveral_isAnErrorThatNamesThemAndNoPassword() {
    assertThatThrownBy(() -> Providers.only(List.of("a", 1L), each -> true, URI))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("redis://: java.lang.Long and java.lang.String;")
        .hasMessageContaining("JedisRedis.connect(uri)")
        .hasMessageNotContaining("sesame");
  }
}
