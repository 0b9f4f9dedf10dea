/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

/** Numbers of fixed width in ASCII, as headers and scripts use them. */
final class Digits {
  private static final int WIDE = 19;
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private Digits() {}

  /** Writes a number that is not negative and fits. */
  static void putDecimal(byte[] to, int at, int width, long value) {
    long rest = value;
    for (int i = at + width - 1; i >= at; i--) {
      to[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    if (rest != 0) {
      throw new IllegalArgumentException(value + " does not fit into " + width + " digits");
    }
  }

  static byte[] decimal(long value, int width) {
    byte[] digits = new byte[width];
    putDecimal(digits, 0, width, value);
    return digits;
  }

  /** Reads at most 18 digits; -1 if one of the bytes is none. */
  static long decimal(byte[] from, int at, int width) {
    long value = 0;
    for (int i = at; i < at + width; i++) {
      int digit = from[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  /** Writes a fencing token: all the digits that a long may have. */
  static byte[] wide(long value) {
    return decimal(value, WIDE);
  }

  /** Reads what {@link #wide(long)} has written; -1 if it is anything else. */
  static long wide(byte[] from) {
    if (from.length != WIDE) {
      return -1;
    }
    long high = decimal(from, 0, 9);
    long low = decimal(from, 9, 10);
    if (high < 0 || low < 0) {
      return -1;
    }
    long value = high * 10_000_000_000L + low;
    // Beyond the greatest long it has turned negative.
    return value < 0 ? -1 : value;
  }

  static void putHex(byte[] to, int at, long value) {
    long rest = value;
    for (int i = at + 15; i >= at; i--) {
      to[i] = HEX[(int) (rest & 15)];
      rest >>>= 4;
    }
  }

  static byte[] hex(long value) {
    byte[] digits = new byte[16];
    putHex(digits, 0, value);
    return digits;
  }

  static boolean isHex(byte[] from, int at) {
    for (int i = at; i < at + 16; i++) {
      byte c = from[i];
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
        return false;
      }
    }
    return true;
  }

  /** Reads 16 digits that {@link #isHex} has accepted. */
  static long hex(byte[] from, int at) {
    long value = 0;
    for (int i = at; i < at + 16; i++) {
      int c = from[i];
      value = (value << 4) | (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
  }
}
