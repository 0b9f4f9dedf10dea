/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

/**
 * Which barrier is to be raised, and how far.
 *
 * @param key where it is stored
 * @param space the space whose watchers are told, see {@link StoreKey#space()}; not copied
 * @param label its name in that message
 * @param aheadMillis how far above the store's present time it goes, for what clocks of a store's
 *     parts may differ; not negative
 * @param ttlMillis how long it is kept at least; at least 1
 */
// Nobody compares requests.
@SuppressWarnings("ArrayRecordComponent")
public record BarrierRequest(
    StoreKey key, byte[] space, String label, long aheadMillis, long ttlMillis) {

  /**
   * Checks the arguments.
   *
   * @throws IllegalArgumentException if a number is out of range
   */
  public BarrierRequest {
    requireNonNull(key, "key");
    requireNonNull(space, "space");
    requireNonNull(label, "label");
    if (aheadMillis < 0) {
      throw new IllegalArgumentException("aheadMillis must not be negative, is " + aheadMillis);
    }
    if (ttlMillis < 1) {
      throw new IllegalArgumentException("ttlMillis must be at least 1, is " + ttlMillis);
    }
  }
}
