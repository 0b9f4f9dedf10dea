/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/**
 * How much is measured.
 *
 * @param quick whether this is a quick run
 * @param hitPairs pairs of slices for each number of threads
 * @param sliceMillis how long a slice is
 * @param warmMillis how long each way runs before
 * @param countedCalls calls over which commands are counted
 * @param fillPairs pairs of cold fills, each of so many keys
 * @param fillKeys keys of one of these
 * @param stormPairs pairs of fills by many threads
 * @param stormKeys keys of one of these
 * @param processes JVMs of a herd
 * @param callers callers in each
 * @param loadMillis how long the load of a herd takes
 * @param warmHerds pairs of short herds before those that are measured
 * @param herds pairs of herds
 * @param countedHerds pairs of herds whose commands are counted
 * @param leasePairs pairs of slices in which many threads want one lease
 * @param leaseMillis how long such a slice is
 * @param majorityPairs pairs of a lease by a majority of servers and of bare votes
 * @param libraryRounds rounds of what is measured of all libraries in turns
 * @param outageMillis how long a server fails
 * @param restKeys keys that are read once
 * @param flights flights that are open at once
 * @param operationRounds rounds of the single operations
 * @param operationMillis how long one iteration of these is
 */
record Scale(
    boolean quick,
    int hitPairs,
    long sliceMillis,
    long warmMillis,
    int countedCalls,
    int fillPairs,
    int fillKeys,
    int stormPairs,
    int stormKeys,
    int processes,
    int callers,
    long loadMillis,
    int warmHerds,
    int herds,
    int countedHerds,
    int leasePairs,
    long leaseMillis,
    int majorityPairs,
    int libraryRounds,
    long outageMillis,
    int restKeys,
    int flights,
    int operationRounds,
    long operationMillis) {

  static Scale quickRun() {
    return new Scale(
        true, 12, 200, 1000, 100, 7, 200, 3, 10_000, 4, 50, 200, 30, 20, 3, 6, 1000, 200, 5, 3_000,
        30_000, 5_000, 1, 300);
  }

  static Scale fullRun() {
    return new Scale(
        false, 40, 400, 4000, 1000, 15, 1000, 7, 10_000, 4, 50, 200, 80, 40, 7, 15, 2000, 1000, 15,
        8_000, 1_000_000, 10_000, 3, 500);
  }
}
