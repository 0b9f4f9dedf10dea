/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * "Give me the value if it is fresh, else the right to load it."
 *
 * @param key which value
 * @param owner 128 random bits as 32 lower-case hexadecimal digits, fresh for each acquisition; the
 *     same request sent again with the same owner is recognised as a replay
 * @param leaseMillis how long the lease lasts when granted; at least 1
 * @param graceMillis how long the lease's record is kept; more than {@code leaseMillis}
 * @param newEpoch 64 random bits, of which the lower 32 are not all 0: the store makes the epoch of
 *     them if this grant is the first since the last invalidation or stored fill. It must make
 *     another one if the same request arrives again after that: else a fill that an invalidation
 *     has ruled out would be stored
 * @param mode what counts as fresh enough
 * @param degraded whether a caller that has waited long enough asks for the one degraded load that
 *     each lease allows beside its holder
 * @param seen for {@link Mode#REPLACE_STALE} and {@link Mode#REPLACE_BROKEN} the entry that is to
 *     be replaced; a different one found in the store counts as usual
 * @param validForMillis a store that executes this later than so many milliseconds from now answers
 *     {@link AcquireReply.Status#TOO_LATE} and does nothing; at least 1
 */
public record AcquireRequest(
    StoreKey key,
    String owner,
    long leaseMillis,
    long graceMillis,
    long newEpoch,
    Mode mode,
    boolean degraded,
    @Nullable StoredEntry seen,
    long validForMillis) {

  /** What counts as fresh enough to be returned instead of a lease. */
  public enum Mode {
    /** A fresh value is returned. */
    NORMAL,
    /** As {@link #NORMAL}, but the value seen counts as stale even while it is fresh. */
    REPLACE_STALE,
    /** As {@link #NORMAL}, but the value seen counts as missing: its payload can't be used. */
    REPLACE_BROKEN,
    /** Whatever is stored counts as stale. */
    FORCED
  }

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a number is out of range, the owner is malformed, or a mode
   *     that replaces lacks the entry seen
   */
  public AcquireRequest {
    requireNonNull(key, "key");
    requireNonNull(mode, "mode");
    if (owner.length() != 32 || !owner.chars().allMatch(AcquireRequest::isHex)) {
      throw new IllegalArgumentException("owner must have 32 hexadecimal digits, is " + owner);
    }
    if (leaseMillis < 1 || graceMillis <= leaseMillis) {
      throw new IllegalArgumentException(
          "lease must be at least 1 ms and shorter than grace, is "
              + leaseMillis
              + " with a grace of "
              + graceMillis);
    }
    if ((int) newEpoch == 0) {
      throw new IllegalArgumentException(
          "the lower half of newEpoch must not be 0, is " + Long.toHexString(newEpoch));
    }
    if (validForMillis < 1) {
      throw new IllegalArgumentException("validForMillis must be at least 1, is " + validForMillis);
    }
    if (seen == null && (mode == Mode.REPLACE_STALE || mode == Mode.REPLACE_BROKEN)) {
      throw new IllegalArgumentException(mode + " needs the entry that was seen");
    }
  }

  private static boolean isHex(int character) {
    return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
  }
}
