/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

/**
 * One thing that a plan holds.
 *
 * @param number its place in the plan, by which it can be kept or left out
 * @param atMicros when
 * @param kind what
 * @param who the process or server it concerns
 * @param amount how much: what that means depends on the kind
 * @param spanMicros for how long
 */
record Step(int number, long atMicros, Kind kind, int who, long amount, long spanMicros) {
  @Override
  public String toString() {
    return "#"
        + number
        + " "
        + kind.shown()
        + " of "
        + who
        + " ("
        + amount
        + (spanMicros > 0 ? ", for " + spanMicros / 1000 + " ms" : "")
        + ")";
  }
}
