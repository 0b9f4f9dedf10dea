/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaValue;

/** The expected texts are what redis-server 7.0 answers; {@code ModelAgainstRedisIT} asks it. */
final class CNumbersTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "-1, -1",
    "0.1, 0.1",
    "1234567890123, 1234567890123",
    "99999999999999, 99999999999999",
    "100000000000000, 1e+14",
    "1767225600000000, 1.7672256e+15",
    "9007199254740993, 9.007199254741e+15",
    "0.00001, 1e-05",
    "1e300, 1e+300",
    "123456.789, 123456.789",
    "0.30000000000000004, 0.3"
  })
  void tostring_number_hasFourteenDigits(double number, String text) {
    assertThat(CNumbers.tostring(number)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "1767225600000, 1767225600000",
    "9007199254740992, 9007199254740992",
    "1e16, 10000000000000000",
    "1e17, 1e+17",
    "0.1, 0.10000000000000001",
    "-5, -5"
  })
  void argument_number_hasSeventeenDigits(double number, String text) {
    assertThat(CNumbers.argument(number)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource(
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "%d,1767225600000,1767225600000",
        "%05d,-42,-0042",
        "%5d|,42,   42|",
        "%-5d|,42,42   |",
        "%+d,42,+42",
        "%.3d,7,007",
        "%.0f,9007199254740992,9007199254740992",
        "%.0f,0.5,0",
        "%.0f,1.5,2",
        "%.2f,2.675,2.67",
        "%f,1,1.000000",
        "%e,12345.678,1.234568e+04",
        "%.0e,15000,2e+04",
        "%g,100000,100000",
        "%g,1000000,1e+06",
        "%g,0.0001,0.0001",
        "%#g,1,1.00000",
        "%.17g,0.1,0.10000000000000001",
        "%x,255,ff",
        "%#X,255,0XFF",
        "%016.0f,1767225600000,0001767225600000",
        "%s,100000000000000,1e+14",
        "%%%d,1,%1",
        "%E,12345.678,1.234568E+04"
      })
  void format_directive_isPrintfs(String format, double number, String text) {
    assertThat(format(format, LuaValue.valueOf(number))).isEqualTo(text);
  }

  @Test
  void format_bytes_staysAsTheyAre() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    assertThat(format("<%s>", LuaString.valueOf(all)))
        .isEqualTo("<" + new String(all, ISO_8859_1) + ">");
    assertThat(format("%.2s|%5s|%-3s|", text("abc"), text("de"), text("f")))
        .isEqualTo("ab|   de|f  |");
    assertThat(format("%c%c", LuaValue.valueOf(0), LuaValue.valueOf(255))).isEqualTo("\0\u00ff");
  }

  @Test
  void format_unknownDirective_isRefused() {
    assertThatThrownBy(() -> format("%y", LuaValue.valueOf(1))).isInstanceOf(LuaError.class);
    assertThatThrownBy(() -> format("%")).isInstanceOf(LuaError.class);
  }

  @ParameterizedTest
  @CsvSource({
    "12, 12",
    "' 12 ', 12",
    "0012, 12",
    "1e3, 1000",
    "0x10, 16",
    "-.5, -0.5",
    "'', nil",
    "1 2, nil",
    "12a, nil",
    "0x, nil",
    "nan, NaN",
    "-inf, -Infinity",
    "9007199254740993, 9007199254740992"
  })
  void tonumber_text_isStrtods(String text, String number) {
    LuaValue value = CNumbers.tonumber(text(text));
    assertThat(value.isnil() ? "nil" : format("%.17g", value))
        .isEqualTo(
            number.equals("nil")
                ? "nil"
                : format("%.17g", LuaValue.valueOf(Double.parseDouble(number))));
  }

  @Test
  void tonumber_base_isStrtouls() {
    assertThat(CNumbers.tonumber(text("ff"), 16).todouble()).isEqualTo(255);
    assertThat(CNumbers.tonumber(text("0xff"), 16).todouble()).isEqualTo(255);
    assertThat(CNumbers.tonumber(text("z"), 36).todouble()).isEqualTo(35);
    assertThat(CNumbers.tonumber(text("8"), 8).isnil()).isTrue();
  }

  private static LuaString text(String text) {
    return LuaString.valueOf(text.getBytes(ISO_8859_1));
  }

  private static String format(String format, LuaValue... args) {
    LuaValue[] all = new LuaValue[args.length + 1];
    all[0] = text(format);
    System.arraycopy(args, 0, all, 1, args.length);
    return CNumbers.latin1(CNumbers.format(LuaValue.varargsOf(all)));
  }
}
