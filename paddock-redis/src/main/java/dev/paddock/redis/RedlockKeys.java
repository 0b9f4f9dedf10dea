/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * The keys of Redlock on each of its servers: {@code pdk:{redlock}:l:<name>} for a lease, {@code
 * pdk:{redlock}:c} for the counters of 1024 buckets, {@code pdk:{redlock}:e} for the epoch. They
 * are none of the keys of leases on a single primary, so that a server may serve both.
 */
final class RedlockKeys {
  static final int BUCKETS = 1024;

  private static final String LEASE = "pdk:{redlock}:l:";
  private static final byte[] COUNTERS = "pdk:{redlock}:c".getBytes(US_ASCII);
  private static final byte[] EPOCH = "pdk:{redlock}:e".getBytes(US_ASCII);

  private RedlockKeys() {}

  /** Returns lease, counters and epoch. */
  static byte[][] of(String name) {
    return new byte[][] {(LEASE + name).getBytes(UTF_8), COUNTERS.clone(), EPOCH.clone()};
  }

  /** Returns the keys of a script that concerns no lease. */
  static byte[][] ofServer() {
    return new byte[][] {EPOCH.clone(), COUNTERS.clone(), EPOCH.clone()};
  }

  /** Returns the bucket of a name, as a field of the counters. */
  static byte[] bucket(String name) {
    return bucket(SlotTags.hash(name.getBytes(UTF_8)) % BUCKETS);
  }

  static byte[] bucket(int number) {
    return Integer.toString(number).getBytes(US_ASCII);
  }

  /**
   * Returns what all clients of a group must agree on.
   *
   * @param addresses the servers, in any order
   * @param leaseMillisMax the longest lease
   */
  static byte[] fingerprint(List<String> addresses, long leaseMillisMax) {
    String text = String.join("\n", addresses.stream().sorted().toList()) + "\n" + leaseMillisMax;
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest, 0, 16).getBytes(US_ASCII);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each JVM has SHA-256", e);
    }
  }
}
