/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.util.List;

/**
 * All that a run has found, as JSON has it.
 *
 * @param command the command line
 * @param began when, ISO 8601
 * @param processors of the machine
 * @param java the version
 * @param redis the version
 * @param quick whether sizes were reduced
 * @param lines the table
 * @param unmeasured what could not be measured
 */
record JsonReport(
    String command,
    String began,
    int processors,
    String java,
    String redis,
    boolean quick,
    List<Line> lines,
    List<Unmeasured> unmeasured) {}
