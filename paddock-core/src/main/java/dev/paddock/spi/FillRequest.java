/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

/**
 * "Store what I loaded, unless something newer has happened, and free my lease."
 *
 * @param key which value
 * @param owner the owner of the lease it was loaded under
 * @param entry the value, with the lease's epoch and seq in it
 * @param ttlMillis how long the store keeps it (hard TTL); at least 1
 */
public record FillRequest(StoreKey key, String owner, StoredEntry entry, long ttlMillis) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if the TTL is less than 1 ms or the entry has no epoch
   */
  public FillRequest {
    requireNonNull(key, "key");
    requireNonNull(owner, "owner");
    if (ttlMillis < 1) {
      throw new IllegalArgumentException("ttlMillis must be at least 1, is " + ttlMillis);
    }
    if (entry.epoch() == StoredEntry.NO_EPOCH) {
      throw new IllegalArgumentException("a fill needs the epoch of its lease");
    }
  }
}
