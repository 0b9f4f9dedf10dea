/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.time.Duration;

/**
 * An invariant that fell.
 *
 * @param invariant which
 * @param what what was seen
 * @param atNanos when, by the world's time
 */
record Violation(Invariant invariant, String what, long atNanos) {
  @Override
  public String toString() {
    return invariant
        + " ("
        + invariant.text()
        + "): "
        + what
        + ", after "
        + Duration.ofNanos(atNanos).toMillis()
        + " ms";
  }
}
