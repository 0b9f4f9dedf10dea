/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * The keys of a lease: {@code pdk:lease:{TAG}:<name>} for the lease, {@code pdk:lease:{TAG}} for
 * the counter of its bucket. Counters have no TTL, so there is one for each of 1024 buckets and not
 * for each name; both keys share a cluster slot by the bucket's tag.
 */
final class LeaseKeys {
  static final int BUCKETS = 1024;

  private LeaseKeys() {}

  /** Returns the lease key and the counter key of a name. */
  static byte[][] of(String name) {
    byte[] bytes = name.getBytes(UTF_8);
    // The slots of neighbouring buckets lie far apart, so that a cluster's nodes share the buckets.
    int slot = SlotTags.hash(bytes) % BUCKETS * (SlotTags.SLOTS / BUCKETS);
    String counter = "pdk:lease:{" + new String(SlotTags.tag(slot), US_ASCII) + "}";
    return new byte[][] {(counter + ":" + name).getBytes(UTF_8), counter.getBytes(US_ASCII)};
  }
}
