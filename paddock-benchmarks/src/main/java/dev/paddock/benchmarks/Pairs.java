/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Measurements of Paddock and of a bound, made in turns: pairs, whose ratios are compared. */
final class Pairs {
  private final List<Double> ours = new ArrayList<>();
  private final List<Double> bounds = new ArrayList<>();

  void add(double our, double bound) {
    ours.add(our);
    bounds.add(bound);
  }

  int size() {
    return ours.size();
  }

  double ours() {
    return median(array(ours));
  }

  double bound() {
    return median(array(bounds));
  }

  /** The median of the pairs' ratios, not the ratio of the medians: noise often meets both. */
  double ratio() {
    return median(ratios());
  }

  double minRatio() {
    return Arrays.stream(ratios()).min().orElseThrow();
  }

  double maxRatio() {
    return Arrays.stream(ratios()).max().orElseThrow();
  }

  private double[] ratios() {
    double[] ratios = new double[ours.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = ours.get(i) / bounds.get(i);
    }
    return ratios;
  }

  private static double[] array(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /**
   * Returns the median; of an even count, the mean of the two in the middle.
   *
   * @throws IllegalArgumentException if there are no values
   */
  static double median(double... values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("no values");
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /**
   * Returns the smallest value that so much of all values do not exceed.
   *
   * @param part above 0, at most 1
   * @param values in any order
   * @throws IllegalArgumentException if there are no values, or the part is out of range
   */
  static double quantile(double part, double... values) {
    if (values.length == 0 || !(part > 0 && part <= 1)) {
      throw new IllegalArgumentException("no quantile " + part + " of " + values.length);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(part * sorted.length) - 1];
  }
}
