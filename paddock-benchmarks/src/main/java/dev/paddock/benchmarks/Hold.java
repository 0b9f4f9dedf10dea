/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/**
 * One hold of a lease, in microseconds since 1970.
 *
 * @param askedMicros when the caller asked for it
 * @param beganMicros when the caller had it
 * @param endedMicros the last moment before the caller gave it back
 * @param token the fencing token; 0 if there is none
 */
record Hold(long askedMicros, long beganMicros, long endedMicros, long token) {}
