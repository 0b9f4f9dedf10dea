/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A script as it is sent: with its prelude in front, and with the rules where it wants them. */
final class ScriptText {
  private static final String RULES_HERE = "-- rules.lua\n";

  private final byte[] text;
  private final String sha1;

  private ScriptText(List<String> preludes, @Nullable List<String> rules, String script) {
    text =
        whole(
                resources(preludes),
                rules == null ? null : resources(rules),
                resource(script.toLowerCase(Locale.ROOT)))
            .getBytes(US_ASCII);
    sha1 = sha1(text);
  }

  /**
   * Reads a script.
   *
   * @param preludes the resources that it begins with, without their ending
   * @param script the script's resource in upper case, without its ending
   */
  static ScriptText of(List<String> preludes, String script) {
    return new ScriptText(preludes, null, script);
  }

  /**
   * Reads a script that takes the rules in its middle.
   *
   * @param preludes the resources that it begins with, without their ending
   * @param rules the resources of the rules, without their ending
   * @param script the script's resource in upper case, without its ending
   */
  static ScriptText withRules(List<String> preludes, List<String> rules, String script) {
    return new ScriptText(preludes, rules, script);
  }

  /**
   * Puts a script together.
   *
   * @param prelude what it begins with
   * @param rules what stands in place of the line that names it; null if no line does
   * @param own the script's own text
   * @throws IllegalStateException if there is not one such line, or one without rules
   */
  static String whole(String prelude, @Nullable String rules, String own) {
    int line = own.indexOf(RULES_HERE);
    if (rules == null ? line >= 0 : line < 0 || own.indexOf(RULES_HERE, line + 1) >= 0) {
      throw new IllegalStateException("a script with rules has to say once where they go");
    }
    return rules == null
        ? prelude + own
        : prelude + own.substring(0, line) + rules + own.substring(line + RULES_HERE.length());
  }

  /** Returns the whole script, not a copy: one for each call would cost more than the call. */
  byte[] bytes() {
    return text;
  }

  /** Returns the SHA-1 of the whole script, the name under which the server caches it. */
  String sha1() {
    return sha1;
  }

  private static String resources(List<String> names) {
    return names.stream().map(ScriptText::resource).collect(Collectors.joining());
  }

  private static String resource(String name) {
    String file = name + ".lua";
    try (InputStream in = ScriptText.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException("script " + file + " is missing from the jar");
      }
      return new String(in.readAllBytes(), US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException("script " + file + " can't be read", e);
    }
  }

  private static String sha1(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each JVM has SHA-1", e);
    }
  }
}
