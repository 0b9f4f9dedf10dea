/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;

/**
 * The same for programs: one JSON object.
 *
 * @param experiments the experiments in the order in which they ran
 * @param met whether all came out as expected
 */
record JsonReport(List<Row> experiments, boolean met) {
  /**
   * Makes the report.
   *
   * @param rows the experiments
   * @return the report
   */
  static JsonReport of(List<Row> rows) {
    return new JsonReport(rows, rows.stream().allMatch(Row::met));
  }
}
