/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: 200ms, 1.5s. */
final class DurationText {
  private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,3})?)(ms|s)");

  private DurationText() {}

  /**
   * Reads a duration.
   *
   * @param text the text
   * @return milliseconds, or -1 if the text is no duration or no whole number of them
   */
  static long parseMillis(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      return -1;
    }
    BigDecimal value = new BigDecimal(matcher.group(1));
    BigDecimal millis = matcher.group(2).equals("s") ? value.movePointRight(3) : value;
    return millis.stripTrailingZeros().scale() > 0 ? -1 : millis.longValueExact();
  }
}
