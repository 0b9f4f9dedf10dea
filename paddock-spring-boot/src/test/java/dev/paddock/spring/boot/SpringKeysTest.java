/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.cache.interceptor.SimpleKey;

final class SpringKeysTest {
  record Route(String from, String to) {}

  private static String text(Object key) {
    return new String(SpringKeys.INSTANCE.format(key), UTF_8);
  }

  @Test
  void single_keys_staySuchAsTheyAre() {
    assertThat(text(42L)).isEqualTo("42");
    assertThat(text("a,b")).isEqualTo("a,b");
    assertThat(text(LocalDate.of(2026, 1, 2))).isEqualTo("2026-01-02");
    assertThat(text(Locale.GERMANY)).isEqualTo("de-DE");
  }

  @Test
  void several_parameters_areReadable() {
    assertThat(text(new SimpleKey("eu", 42L))).isEqualTo("(eu,42)");
    assertThat(text(SimpleKey.EMPTY)).isEqualTo("()");
    assertThat(text(List.of("eu", new Route("a", "b")))).isEqualTo("(eu,\\Route(a,b))");
  }

  @Test
  void different_keys_haveDifferentText() {
    List<Object> keys =
        Arrays.asList(
            "a,b",
            "(a,b)",
            "\\(a,b)",
            "\\Route(a,b)",
            new SimpleKey("a", "b"),
            new SimpleKey("a,b"),
            new SimpleKey("a", "b", null),
            new SimpleKey("a", "b", "0"),
            new SimpleKey("a", "b", "\\0"),
            new SimpleKey("a", "b", ""),
            new SimpleKey("a", List.of("b")),
            new SimpleKey("a", "(b)"),
            new SimpleKey("a\\", "b"),
            new SimpleKey("a\\,b"),
            new SimpleKey((Object) new byte[] {-1}),
            new SimpleKey((Object) new byte[] {-2}),
            new Route("a", "b"),
            SimpleKey.EMPTY,
            "");
    Set<String> texts = new HashSet<>();
    for (Object key : keys) {
      assertThat(texts.add(text(key))).as("%s as %s", key, text(key)).isTrue();
    }
  }

  @Test
  void key_withoutSafeText_isRefusedWithAdvice() {
    assertThatThrownBy(() -> text(new Object()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("key = \"#p0.id\"");
  }
}
