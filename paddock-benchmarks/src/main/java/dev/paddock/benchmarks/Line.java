/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * One line of the table.
 *
 * @param figure the name of the figure
 * @param what which part of it
 * @param unit of the two values; empty for a count
 * @param paddock Paddock's value, a median
 * @param bound the bound's, a median; null if there is none
 * @param ratio the median of the pairs' ratios; null without a bound
 * @param min the lowest ratio, or without a bound the lowest value; null if there is one value only
 * @param max the highest
 * @param target what is hoped for; null if the figure is reported only
 */
record Line(
    String figure,
    String what,
    String unit,
    double paddock,
    @Nullable Double bound,
    @Nullable Double ratio,
    @Nullable Double min,
    @Nullable Double max,
    @Nullable Target target) {

  /** A line of pairs. */
  static Line of(Figure figure, String what, String unit, Pairs pairs, @Nullable Target target) {
    return new Line(
        figure.title(),
        what,
        unit,
        pairs.ours(),
        pairs.bound(),
        pairs.ratio(),
        pairs.minRatio(),
        pairs.maxRatio(),
        target);
  }

  /** A line of values that stand for themselves. */
  static Line of(
      Figure figure, String what, String unit, double[] values, @Nullable Target target) {
    return new Line(
        figure.title(),
        what,
        unit,
        Pairs.median(values),
        null,
        null,
        values.length == 1 ? null : Double.valueOf(Pairs.quantile(Double.MIN_VALUE, values)),
        values.length == 1 ? null : Double.valueOf(Pairs.quantile(1, values)),
        target);
  }

  /** Tells whether the target is reached; null if there is none. */
  @JsonProperty
  @Nullable Boolean reached() {
    Target hoped = target;
    if (hoped == null) {
      return null;
    }
    Double compared = hoped.of() == Target.Of.RATIO ? ratio : Double.valueOf(paddock);
    if (compared == null) {
      throw new IllegalStateException(figure + " has no bound to compare with");
    }
    return hoped.isReached(compared);
  }
}
