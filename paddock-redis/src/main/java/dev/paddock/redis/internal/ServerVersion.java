/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a server says of its version. Valkey says {@code redis_version:7.2.4} besides its own.
 *
 * @param text as the server wrote it
 */
public record ServerVersion(String text, int major, int minor) {
  private static final int MAJOR_NEEDED = 6;
  private static final int MINOR_NEEDED = 2;

  private static final Pattern NUMBERS = Pattern.compile("^(\\d{1,9})\\.(\\d{1,9})");
  private static final Pattern IN_INFO = Pattern.compile("(?m)^redis_version:([^\r\n]*)");

  /**
   * Finds the version that a text begins with.
   *
   * @return the version; null if the text begins with none
   */
  public static @Nullable ServerVersion parse(String text) {
    Matcher numbers = NUMBERS.matcher(text);
    return numbers.find()
        ? new ServerVersion(
            text, Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)))
        : null;
  }

  /**
   * Finds the version in a reply to INFO.
   *
   * @return the version; null if there is none
   */
  public static @Nullable ServerVersion inInfo(String info) {
    Matcher line = IN_INFO.matcher(info);
    return line.find() ? parse(line.group(1).trim()) : null;
  }

  /**
   * Tells whether Paddock can use the server.
   *
   * @return true from 6.2 on
   */
  public boolean isSupported() {
    return major > MAJOR_NEEDED || (major == MAJOR_NEEDED && minor >= MINOR_NEEDED);
  }
}
