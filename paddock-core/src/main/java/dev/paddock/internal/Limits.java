/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.util.Objects.requireNonNull;

import dev.paddock.KeyFormats;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The ranges of all options, each checked where the option is set. */
public final class Limits {
  /** The longest tag, in bytes of UTF-8. */
  public static final int MAX_TAG_BYTES = 255;

  /** The most tags that a loader, or a call, can give a value. */
  public static final int MAX_TAGS = 16;

  private static final Duration ONE_MILLI = Duration.ofMillis(1);
  private static final Duration TEN_YEARS = Duration.ofDays(3650);
  private static final Duration ONE_DAY = Duration.ofDays(1);

  private Limits() {}

  /**
   * Checks a time to live.
   *
   * @param value the value
   * @param option its name, for the message
   * @return the value
   */
  public static Duration timeToLive(Duration value, String option) {
    return between(value, option, ONE_MILLI, TEN_YEARS);
  }

  /**
   * Checks a window that may be empty.
   *
   * @param value the value
   * @param option its name, for the message
   * @return the value
   */
  public static Duration window(Duration value, String option) {
    return between(value, option, Duration.ZERO, TEN_YEARS);
  }

  /**
   * Checks how long a caller waits.
   *
   * @param value the value
   * @return the value
   */
  public static Duration maxWait(Duration value) {
    return between(value, "maxWait", Duration.ZERO, ONE_DAY);
  }

  /**
   * Checks a length of time that is not zero.
   *
   * @param value the value
   * @param option its name, for the message
   * @return the value
   */
  public static Duration span(Duration value, String option) {
    return between(value, option, ONE_MILLI, ONE_DAY);
  }

  /**
   * Checks a pause that may be empty.
   *
   * @param value the value
   * @param option its name, for the message
   * @return the value
   */
  public static Duration pause(Duration value, String option) {
    return between(value, option, Duration.ZERO, ONE_DAY);
  }

  /**
   * Checks a number.
   *
   * @param value the value
   * @param min the least that is accepted
   * @param option its name, for the message
   * @return the value
   */
  public static int atLeast(int value, int min, String option) {
    if (value < min) {
      throw new IllegalArgumentException(option + " must be at least " + min + ", is " + value);
    }
    return value;
  }

  /**
   * Checks a number.
   *
   * @param value the value
   * @param min the least that is accepted
   * @param option its name, for the message
   * @return the value
   */
  public static long atLeast(long value, long min, String option) {
    if (value < min) {
      throw new IllegalArgumentException(option + " must be at least " + min + ", is " + value);
    }
    return value;
  }

  /**
   * Checks a lag that may be none.
   *
   * @param value the value
   * @param option its name, for the message
   * @return the value
   */
  public static Duration lag(Duration value, String option) {
    return between(value, option, Duration.ZERO, Duration.ofHours(1));
  }

  /**
   * Checks one tag.
   *
   * @param tag the tag
   * @return the tag
   */
  public static String tag(String tag) {
    int bytes = KeyFormats.utf8(requireNonNull(tag, "tag")).length;
    if (bytes < 1 || bytes > MAX_TAG_BYTES) {
      throw new IllegalArgumentException(
          "a tag must have 1 to "
              + MAX_TAG_BYTES
              + " bytes of UTF-8, \""
              + (tag.length() > 40 ? tag.substring(0, 40) + "..." : tag)
              + "\" has "
              + bytes);
    }
    return tag;
  }

  /**
   * Adds tags to others.
   *
   * @param before those that are there
   * @param more those to add
   * @return all of them, each once, in order
   */
  public static List<String> tags(List<String> before, String... more) {
    Set<String> all = new LinkedHashSet<>(before);
    for (String tag : more) {
      all.add(tag(tag));
    }
    if (all.size() > MAX_TAGS) {
      throw new IllegalArgumentException(
          "a loader or a call can give a value " + MAX_TAGS + " tags, these are " + all.size());
    }
    return List.copyOf(all);
  }

  private static Duration between(Duration value, String option, Duration min, Duration max) {
    requireNonNull(value, option);
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          option + " must be between " + min + " and " + max + ", is " + value);
    }
    return value;
  }

  /**
   * Converts to whole milliseconds, rounded up, so that what was at least 1 ns never becomes 0.
   *
   * @param value a duration within the limits above
   * @return milliseconds
   */
  public static long millisRoundedUp(Duration value) {
    long millis = value.toMillis();
    return value.minusMillis(millis).isZero() ? millis : millis + 1;
  }
}
