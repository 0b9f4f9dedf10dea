/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.CharBuffer;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class KeyFormatsTest {
  private static final KeyFormat<Object> STANDARD = KeyFormats.standard();

  enum Colour {
    RED,
    /** A constant with a class of its own. */
    GREEN {
      @Override
      public String toString() {
        return "something else";
      }
    }
  }

  record Route(String from, String to) {}

  private static CharSequence built(String text) {
    StringBuilder builder = new StringBuilder();
    text.chars().forEach(c -> builder.append((char) c));
    return builder;
  }

  static Stream<Arguments> keysAndTheirForms() {
    return Stream.of(
        Arguments.of("", ""),
        Arguments.of("a:b{c}", "a:b{c}"),
        Arguments.of("Grüße \uD83D\uDC18\u0000", "Grüße \uD83D\uDC18\u0000"),
        Arguments.of(built("built"), "built"),
        Arguments.of(CharBuffer.wrap("buffered"), "buffered"),
        Arguments.of('x', "x"),
        Arguments.of('ü', "ü"),
        Arguments.of(0L, "0"),
        Arguments.of(Long.MIN_VALUE, "-9223372036854775808"),
        Arguments.of(Long.MAX_VALUE, "9223372036854775807"),
        Arguments.of(Integer.MIN_VALUE, "-2147483648"),
        Arguments.of((short) -1, "-1"),
        Arguments.of((byte) 127, "127"),
        Arguments.of(
            new BigInteger("-123456789012345678901234567890"), "-123456789012345678901234567890"),
        Arguments.of(true, "true"),
        Arguments.of(false, "false"),
        Arguments.of(
            new UUID(0x0123456789ABCDEFL, 0xFEDCBA9876543210L),
            "01234567-89ab-cdef-fedc-ba9876543210"),
        Arguments.of(Colour.RED, "RED"),
        Arguments.of(Colour.GREEN, "GREEN"));
  }

  @ParameterizedTest
  @MethodSource("keysAndTheirForms")
  void standard_followsItsRule(Object key, String form) {
    assertThat(STANDARD.format(key)).isEqualTo(form.getBytes(UTF_8));
  }

  @Test
  void standard_inAnotherLocale_isTheSame() {
    Locale before = Locale.getDefault();
    try {
      // Digits and the dotless i differ there.
      for (String tag : List.of("ar-EG-u-nu-arab", "tr-TR", "hi-IN-u-nu-deva")) {
        Locale.setDefault(Locale.forLanguageTag(tag));
        assertThat(STANDARD.format(-12L)).asString(UTF_8).isEqualTo("-12");
        assertThat(STANDARD.format(Colour.RED)).asString(UTF_8).isEqualTo("RED");
        assertThat(STANDARD.format(true)).asString(UTF_8).isEqualTo("true");
        assertThat(STANDARD.format(BigInteger.TEN)).asString(UTF_8).isEqualTo("10");
      }
    } finally {
      Locale.setDefault(before);
    }
  }

  @ParameterizedTest
  @MethodSource("keysWithoutAStandardForm")
  void standard_ofAnotherType_isRefused_namingTypeAndRemedy_butNotTheKey(Object key) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> STANDARD.format(key))
        .withMessageContaining(key.getClass().getName())
        .withMessageContaining("keyFormat")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  static Stream<Arguments> keysWithoutAStandardForm() {
    return Stream.<Object>of(
            new Object(),
            new Route("secret", "b"),
            List.of("secret"),
            Map.of("secret", 1),
            Optional.of("secret"),
            1.5,
            1.5f,
            new BigDecimal("1.0"),
            new AtomicLong(1),
            LocalDate.of(2026, 1, 2),
            new int[] {1},
            new char[] {'s'},
            new String[] {"secret"},
            String.class)
        .map(key -> Arguments.of(new Object[] {key}));
  }

  @Test
  void standard_ofNull_isRefused() {
    assertThatNullPointerException().isThrownBy(() -> formatNull(STANDARD));
  }

  @SuppressWarnings({"NullAway", "DataFlowIssue"}) // What a caller without null checks may do.
  private static void formatNull(KeyFormat<Object> format) {
    format.format(null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\uD800", "\uDC00", "a\uD83D", "\uDC18a", "\uDC18\uD83D"})
  void unpairedSurrogate_isRefusedWithoutTheText(String text) {
    for (Object key : new Object[] {text, CharBuffer.wrap(text)}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> STANDARD.format(key))
          .withMessageContaining("surrogate")
          .withMessageContaining(Integer.toString(text.length()));
    }
    assertThatIllegalArgumentException().isThrownBy(() -> KeyFormats.utf8(text));
  }

  @Test
  void unpairedSurrogate_asACharacter_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> STANDARD.format('\uD800'));
    assertThatIllegalArgumentException().isThrownBy(() -> STANDARD.format('\uDFFF'));
  }

  @Test
  void bytes_areTakenAsTheyAre_andCopied() {
    byte[] key = {0, -1, 127, -128, 'a'};

    byte[] form = STANDARD.format(key);
    key[0] = 9;

    assertThat(form).containsExactly(0, -1, 127, -128, 'a');
  }

  @Test
  void bytes_empty_areAKey() {
    assertThat(STANDARD.format(new byte[0])).isEmpty();
  }

  @Test
  void differentTexts_haveDifferentForms() {
    Random random = new Random(7);
    Set<String> texts = new HashSet<>();
    Set<String> forms = new HashSet<>();
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(4); length > 0; length--) {
        int codePoint = random.nextInt(random.nextBoolean() ? 0x100 : 0x110000);
        if (codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE) {
          text.appendCodePoint(codePoint);
        }
      }
      texts.add(text.toString());
      forms.add(java.util.Arrays.toString(STANDARD.format(text)));
    }
    assertThat(forms).hasSameSizeAs(texts);
  }

  @Test
  void ownFormat_fromTheDocumentation_works() {
    KeyFormat<Route> format = r -> KeyFormats.utf8(r.from() + "/" + r.to());

    assertThat(format.format(new Route("a", "ü"))).asString(UTF_8).isEqualTo("a/ü");
  }

  @Test
  void longestKey_is64KiB() {
    assertThat(KeyFormats.MAX_BYTES).isEqualTo(65_536);
  }
}
