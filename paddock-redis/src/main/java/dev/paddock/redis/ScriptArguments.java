/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

/** Arguments of scripts. */
final class ScriptArguments {
  /**
   * More than 30,000 years. A point in time that far away still is below 2<sup>53</sup>, above
   * which Lua loses digits.
   */
  static final long MILLIS_MAX = 1_000_000_000_000_000L;

  private ScriptArguments() {}

  /** Encodes milliseconds, a span or a point in time; what is longer than any is clamped. */
  static byte[] millis(long millis) {
    return Digits.decimal(Math.max(0, Math.min(millis, 2 * MILLIS_MAX)), 16);
  }

  /** As {@link #millis}, but as a command takes it: without leading zeros. */
  static byte[] plain(long millis) {
    return Long.toString(Math.max(0, Math.min(millis, 2 * MILLIS_MAX))).getBytes(US_ASCII);
  }

  /** Encodes a grant: owner, epoch and seq, as the lease record begins. */
  @SuppressWarnings("deprecation") // The bytes of ASCII, without an encoder.
  static byte[] grant(String owner, long epoch, long seq) {
    if (owner.length() != 32) {
      throw new IllegalArgumentException("owner must have 32 hexadecimal digits, is " + owner);
    }
    byte[] grant = new byte[60];
    owner.getBytes(0, 32, grant, 0);
    grant[32] = ' ';
    Digits.putHex(grant, 33, epoch);
    grant[49] = ' ';
    Digits.putDecimal(grant, 50, 10, seq);
    return grant;
  }

  static void atLeast(long least, long value, String name) {
    if (value < least) {
      throw new IllegalArgumentException(name + " must be at least " + least + ", is " + value);
    }
  }
}
