/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

/**
 * One run of the aggregation.
 *
 * @param process in which process
 * @param version of the value that it made
 * @param askedMicros when its caller asked for the lock that it ran under; else when it began
 * @param beganMicros when it began
 * @param endedMicros when it ended, or was cut off
 * @param failed whether it made no value
 */
record Load(
    int process,
    long version,
    long askedMicros,
    long beganMicros,
    long endedMicros,
    boolean failed) {

  long longestMicros() {
    return endedMicros - askedMicros;
  }
}
