/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import org.jspecify.annotations.Nullable;

/**
 * How large the demo is.
 *
 * @param processes how many worker processes
 * @param callers how many callers in each of them
 * @param loadMillis how long the aggregation takes
 * @param leaseMillis length of leases and locks
 * @param repeat how often each experiment is run
 * @param redisUri where Redis is; null to start servers
 * @param topology how servers that are started are arranged
 */
record Settings(
    int processes,
    int callers,
    long loadMillis,
    long leaseMillis,
    int repeat,
    @Nullable String redisUri,
    Topology topology) {

  /**
   * Returns how many callers there are in all processes.
   *
   * @return their number
   */
  int allCallers() {
    return processes * callers;
  }
}
