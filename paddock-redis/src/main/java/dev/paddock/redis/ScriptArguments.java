/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

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

  static void atLeast(long least, long value, String name) {
    if (value < least) {
      throw new IllegalArgumentException(name + " must be at least " + least + ", is " + value);
    }
  }
}
