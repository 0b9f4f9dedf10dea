/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CodecsTest {
  private static final Codec<String> STRING = Codecs.string();
  private static final Codec<byte[]> BYTES = Codecs.bytes();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a",
        " \t\r\n",
        "\u0000",
        "\u007F\u0080\u07FF\u0800",
        "\uFEFFbyte order mark",
        "\uFFFD\uFFFE\uFFFF",
        "\uD7FF\uE000",
        "\uD800\uDC00",
        "\uDBFF\uDFFF",
        "Grüße \uD83D\uDC18 你好"
      })
  void string_valid_survivesAsUtf8(String text) {
    byte[] payload = STRING.encode(text);

    assertThat(payload).isEqualTo(text.getBytes(UTF_8));
    assertThat(STRING.decode(payload)).isEqualTo(text);
  }

  @Test
  void string_everyCodePoint_survives() {
    StringBuilder all = new StringBuilder();
    for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      if (codePoint < Character.MIN_SURROGATE || codePoint > Character.MAX_SURROGATE) {
        all.appendCodePoint(codePoint);
      }
    }

    assertThat(STRING.decode(STRING.encode(all.toString())).contentEquals(all)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 1023, 1024, 1025, 65_536})
  void string_ofAnyLength_hasExactlyItsBytes(int length) {
    assertThat(STRING.encode("x".repeat(length))).hasSize(length);
    assertThat(STRING.encode("ü".repeat(length))).hasSize(2 * length);
  }

  @ParameterizedTest
  @MethodSource("textsWithUnpairedSurrogates")
  void string_withUnpairedSurrogate_isRefusedWithoutItsText(String text) {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> STRING.encode(text))
        .withMessageContaining("surrogate")
        .withMessageContaining(Integer.toString(text.length()))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  static Stream<String> textsWithUnpairedSurrogates() {
    return Stream.of(
        "\uD800",
        "\uDC00",
        "secret\uD83D",
        "\uDC18secret",
        "secret\uDC18\uD83Dsecret",
        "\uD83D\uD83D\uDC18",
        "\uD83D\uDC18\uDC18");
  }

  @ParameterizedTest
  @MethodSource("invalidUtf8")
  void payload_notUtf8_isRefused(byte[] payload) {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> STRING.decode(payload))
        .withMessageContaining("UTF-8")
        .withMessageContaining(payload.length + " bytes");
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  static Stream<byte[]> invalidUtf8() {
    return Stream.of(
        bytes(0x80), // a continuation alone
        bytes(0xFF),
        bytes(0xFE),
        bytes('a', 0xC3), // cut off
        bytes(0xE2, 0x82),
        bytes(0xF0, 0x9F, 0x90),
        bytes(0xC3, 'a'), // no continuation
        bytes(0xC0, 0x80), // overlong NUL
        bytes(0xC1, 0xBF),
        bytes(0xE0, 0x80, 0xAF),
        bytes(0xED, 0xA0, 0x80), // surrogates
        bytes(0xED, 0xBF, 0xBF),
        bytes(0xF4, 0x90, 0x80, 0x80), // above U+10FFFF
        bytes(0xF8, 0x88, 0x80, 0x80, 0x80));
  }

  @Test
  void string_payloadGivenOut_isNotShared() {
    byte[] first = STRING.encode("abc");
    first[0] = 'x';

    assertThat(STRING.encode("abc")).isEqualTo("abc".getBytes(UTF_8));
  }

  @Test
  void bytes_random_survive() {
    Random random = new Random(1);
    for (int length = 0; length < 300; length++) {
      byte[] value = new byte[length];
      random.nextBytes(value);

      assertThat(BYTES.decode(BYTES.encode(value))).isEqualTo(value);
    }
  }

  @Test
  void bytes_areCopiedWhenEncoded() {
    byte[] value = {1, 2, 3};

    byte[] payload = BYTES.encode(value);
    value[0] = 9;

    assertThat(payload).containsExactly(1, 2, 3);
  }

  @Test
  void bytes_areCopiedWhenDecoded() {
    byte[] payload = {1, 2, 3};

    byte[] value = BYTES.decode(payload);
    value[0] = 9;

    assertThat(payload).containsExactly(1, 2, 3);
  }

  @Test
  void schemaVersion_isZero() {
    assertThat(STRING.schemaVersion()).isZero();
    assertThat(BYTES.schemaVersion()).isZero();
  }

  @Test
  void names_sayHowToGetThem() {
    assertThat(STRING).hasToString("Codecs.string()");
    assertThat(BYTES).hasToString("Codecs.bytes()");
  }
}
