/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaString;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;

/**
 * Numbers to text and back as C's {@code printf} and {@code strtod} do it, which is what the
 * server's Lua 5.1 uses; LuaJ differs from them in every respect that matters here.
 */
final class CNumbers {
  private static final Pattern DECIMAL =
      Pattern.compile("[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?");
  private static final Pattern HEX =
      Pattern.compile("([+-]?)0[xX]([0-9a-fA-F]*\\.?[0-9a-fA-F]*)([pP][+-]?\\d+)?");
  private static final Pattern DIRECTIVE =
      Pattern.compile("([-+ #0]*)(\\d{0,2})(?:\\.(\\d{0,2}))?([a-zA-Z])");
  private static final int PRECISION_DEFAULT = 6;
  private static final String SPACE = " \t\n\u000b\f\r";

  private CNumbers() {}

  /** Lua 5.1's {@code tostring} of a number. */
  static String tostring(double number) {
    return g(number, 14);
  }

  /** What a number becomes as an argument of {@code redis.call}. */
  static String argument(double number) {
    return g(number, 17);
  }

  private static String g(double number, int precision) {
    return floating(number, 'g', precision, "");
  }

  /** Lua 5.1's {@code tonumber} of a string without a base; nil if it is none. */
  static LuaValue tonumber(LuaString string) {
    String text = strip(latin1(string));
    String lower = text.toLowerCase(Locale.ROOT);
    String unsigned = lower.startsWith("-") || lower.startsWith("+") ? lower.substring(1) : lower;
    boolean negative = lower.startsWith("-");
    if (unsigned.equals("nan")) {
      return LuaValue.valueOf(Double.NaN);
    }
    if (unsigned.equals("inf") || unsigned.equals("infinity")) {
      return LuaValue.valueOf(negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY);
    }
    if (DECIMAL.matcher(text).matches()) {
      return LuaValue.valueOf(Double.parseDouble(text));
    }
    Matcher hex = HEX.matcher(text);
    if (hex.matches() && !hex.group(2).isEmpty() && !hex.group(2).equals(".")) {
      String exponent = hex.group(3) == null ? "p0" : hex.group(3);
      return LuaValue.valueOf(Double.parseDouble(hex.group(1) + "0x" + hex.group(2) + exponent));
    }
    return LuaValue.NIL;
  }

  /** Lua 5.1's {@code tonumber} of a string with a base. */
  static LuaValue tonumber(LuaString string, int base) {
    if (base == 10) {
      return tonumber(string);
    }
    if (base < 2 || base > 36) {
      throw new LuaError("bad argument #2 to 'tonumber' (base out of range)");
    }
    String text = strip(latin1(string));
    if (base == 16 && text.regionMatches(true, 0, "0x", 0, 2)) {
      text = text.substring(2);
    }
    try {
      return LuaValue.valueOf((double) Long.parseUnsignedLong(text, base));
    } catch (NumberFormatException e) {
      return LuaValue.NIL;
    }
  }

  /** C sees a string up to its first NUL. */
  private static String strip(String text) {
    int from = 0;
    int to = text.indexOf(0) < 0 ? text.length() : text.indexOf(0);
    while (from < to && SPACE.indexOf(text.charAt(from)) >= 0) {
      from++;
    }
    while (from < to && SPACE.indexOf(text.charAt(to - 1)) >= 0) {
      to--;
    }
    return text.substring(from, to);
  }

  /** Lua 5.1's {@code string.format}, byte-safe. */
  static LuaString format(Varargs args) {
    LuaString format = args.checkstring(1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    String text = latin1(format);
    Matcher directive = DIRECTIVE.matcher(text);
    int argument = 1;
    int at = 0;
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c != '%') {
        out.write(c);
      } else if (at < text.length() && text.charAt(at) == '%') {
        out.write('%');
        at++;
      } else {
        directive.region(at, text.length());
        if (!directive.lookingAt()) {
          throw new LuaError("invalid option to 'format'");
        }
        at = directive.end();
        byte[] piece = directive(directive, args, ++argument);
        out.write(piece, 0, piece.length);
      }
    }
    return LuaString.valueUsing(out.toByteArray());
  }

  private static byte[] directive(Matcher directive, Varargs args, int argument) {
    String flags = directive.group(1);
    int width = directive.group(2).isEmpty() ? 0 : Integer.parseInt(directive.group(2));
    String dot = directive.group(3);
    int precision = dot == null ? -1 : dot.isEmpty() ? 0 : Integer.parseInt(dot);
    char conversion = directive.group(4).charAt(0);
    String text =
        switch (conversion) {
          case 'c' -> pad(String.valueOf((char) (args.checkint(argument) & 0xff)), width, flags);
          case 'd', 'i' -> integer((long) args.checkdouble(argument), precision, width, flags);
          case 'u', 'o', 'x', 'X' ->
              unsigned((long) args.checkdouble(argument), conversion, precision, width, flags);
          case 'e', 'E', 'f', 'F', 'g', 'G' ->
              padNumber(
                  floating(
                      args.checkdouble(argument),
                      conversion,
                      precision < 0 ? PRECISION_DEFAULT : precision,
                      flags),
                  width,
                  flags,
                  true);
          case 's' -> {
            LuaValue value = args.arg(argument);
            if (value.type() != LuaValue.TSTRING && value.type() != LuaValue.TNUMBER) {
              throw new LuaError(
                  "bad argument #"
                      + argument
                      + " to 'format' (string expected, got "
                      + value.typename()
                      + ")");
            }
            String string = latin1(text(value));
            yield pad(
                precision >= 0 && precision < string.length()
                    ? string.substring(0, precision)
                    : string,
                width,
                flags);
          }
          default -> throw new LuaError("invalid option '%" + conversion + "' to 'format'");
        };
    return text.getBytes(ISO_8859_1);
  }

  /** Lua 5.1's {@code tostring}. */
  static LuaString text(LuaValue value) {
    if (value.type() == LuaValue.TNUMBER) {
      return LuaString.valueOf(tostring(value.todouble()));
    }
    if (value.type() == LuaValue.TSTRING) {
      return value.checkstring();
    }
    return LuaString.valueOf(value.tojstring());
  }

  private static String integer(long number, int precision, int width, String flags) {
    String digits = Long.toString(number);
    String sign = number < 0 ? "-" : plus(flags);
    digits = number < 0 ? digits.substring(1) : digits;
    digits = "0".repeat(Math.max(0, precision - digits.length())) + digits;
    return padNumber(sign + digits, width, flags, precision < 0);
  }

  private static String unsigned(
      long number, char conversion, int precision, int width, String flags) {
    String digits =
        switch (conversion) {
          case 'o' -> Long.toOctalString(number);
          case 'x' -> Long.toHexString(number);
          case 'X' -> Long.toHexString(number).toUpperCase(Locale.ROOT);
          default -> Long.toUnsignedString(number);
        };
    digits = "0".repeat(Math.max(0, precision - digits.length())) + digits;
    if (flags.contains("#") && number != 0 && conversion != 'u') {
      digits = (conversion == 'o' ? "0" : "0" + conversion) + digits;
    }
    return padNumber(digits, width, flags, precision < 0);
  }

  private static String floating(double number, char conversion, int precision, String flags) {
    boolean upper = Character.isUpperCase(conversion);
    String sign = Double.doubleToRawLongBits(number) < 0 ? "-" : plus(flags);
    String body;
    if (Double.isNaN(number)) {
      // The sign bit of a NaN is shown by glibc; the interpreter's 0/0 has it set on x86.
      body = "nan";
    } else if (Double.isInfinite(number)) {
      body = "inf";
    } else {
      BigDecimal exact = new BigDecimal(Math.abs(number));
      body =
          switch (Character.toLowerCase(conversion)) {
            case 'f' -> exact.setScale(precision, RoundingMode.HALF_EVEN).toPlainString();
            case 'e' -> scientific(exact, precision);
            default -> general(exact, precision == 0 ? 1 : precision, flags.contains("#"));
          };
    }
    if (flags.contains("#") && Double.isFinite(number) && body.indexOf('.') < 0) {
      int e = body.indexOf('e');
      body = e < 0 ? body + "." : body.substring(0, e) + "." + body.substring(e);
    }
    String text = sign + body;
    return upper ? text.toUpperCase(Locale.ROOT) : text;
  }

  private static String scientific(BigDecimal exact, int precision) {
    if (exact.signum() == 0) {
      return (precision == 0 ? "0" : "0." + "0".repeat(precision)) + "e+00";
    }
    BigDecimal rounded = exact.round(new MathContext(precision + 1, RoundingMode.HALF_EVEN));
    String digits = rounded.unscaledValue().toString();
    int exponent = digits.length() - 1 - rounded.scale();
    digits = (digits + "0".repeat(precision + 1)).substring(0, precision + 1);
    String mantissa = precision == 0 ? digits : digits.charAt(0) + "." + digits.substring(1);
    return mantissa
        + (exponent < 0 ? "e-" : "e+")
        + (Math.abs(exponent) < 10 ? "0" : "")
        + Math.abs(exponent);
  }

  private static String general(BigDecimal exact, int precision, boolean keepZeros) {
    if (exact.signum() == 0) {
      return keepZeros && precision > 1 ? "0." + "0".repeat(precision - 1) : "0";
    }
    BigDecimal rounded = exact.round(new MathContext(precision, RoundingMode.HALF_EVEN));
    int exponent = rounded.precision() - 1 - rounded.scale();
    if (exponent < -4 || exponent >= precision) {
      String text = scientific(exact, precision - 1);
      int e = text.indexOf('e');
      return keepZeros ? text : trimZeros(text.substring(0, e)) + text.substring(e);
    }
    String text = exact.setScale(precision - 1 - exponent, RoundingMode.HALF_EVEN).toPlainString();
    return keepZeros ? text : trimZeros(text);
  }

  private static String trimZeros(String text) {
    if (text.indexOf('.') < 0) {
      return text;
    }
    int end = text.length();
    while (text.charAt(end - 1) == '0') {
      end--;
    }
    return text.substring(0, text.charAt(end - 1) == '.' ? end - 1 : end);
  }

  private static String plus(String flags) {
    return flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
  }

  private static String pad(String text, int width, String flags) {
    String spaces = " ".repeat(Math.max(0, width - text.length()));
    return flags.contains("-") ? text + spaces : spaces + text;
  }

  private static String padNumber(String text, int width, String flags, boolean zerosAllowed) {
    boolean number = Character.isDigit(text.charAt(text.length() - 1)) || text.endsWith(".");
    boolean hex = text.chars().allMatch(c -> Character.digit(c, 16) >= 0);
    if (!flags.contains("0") || flags.contains("-") || !zerosAllowed || !(number || hex)) {
      return pad(text, width, flags);
    }
    int sign = "+- ".indexOf(text.charAt(0)) >= 0 ? 1 : 0;
    return text.substring(0, sign)
        + "0".repeat(Math.max(0, width - text.length()))
        + text.substring(sign);
  }

  static String latin1(LuaString string) {
    return new String(string.m_bytes, string.m_offset, string.m_length, ISO_8859_1);
  }
}
