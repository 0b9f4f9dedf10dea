/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.math.BigDecimal;

/**
 * What is hoped for.
 *
 * @param of what is compared
 * @param sense from which side
 * @param limit the limit, which is within
 */
record Target(Of of, Sense sense, double limit) {
  /** What is compared with the limit. */
  enum Of {
    /** Paddock's own value. */
    VALUE,
    /** Paddock's value as a part of the bound. */
    RATIO
  }

  /** On which side of the limit it is well. */
  enum Sense {
    /** At or below it. */
    AT_MOST,
    /** At or above it. */
    AT_LEAST
  }

  static Target ratioAtMost(double limit) {
    return new Target(Of.RATIO, Sense.AT_MOST, limit);
  }

  static Target ratioAtLeast(double limit) {
    return new Target(Of.RATIO, Sense.AT_LEAST, limit);
  }

  static Target atMost(double limit) {
    return new Target(Of.VALUE, Sense.AT_MOST, limit);
  }

  boolean isReached(double value) {
    return sense == Sense.AT_MOST ? value <= limit : value >= limit;
  }

  @Override
  public String toString() {
    String number = BigDecimal.valueOf(limit).stripTrailingZeros().toPlainString();
    return (of == Of.RATIO ? "ratio " : "") + (sense == Sense.AT_MOST ? "<= " : ">= ") + number;
  }
}
