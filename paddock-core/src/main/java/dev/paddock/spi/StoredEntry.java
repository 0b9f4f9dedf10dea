/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * One cached value as the store keeps it: a payload and what the protocol has to know about it.
 *
 * <p>All points in time are milliseconds of the <em>store's</em> clock. Immutable as long as nobody
 * changes the payload, which is not copied. Thread-safe.
 */
public final class StoredEntry {
  /** The epoch of a value that no fill stored: one that was put, or was made stale by hand. */
  public static final long NO_EPOCH = 0;

  /** Stands for tags that can't be read, for no tag is empty: whoever goes by tags loads anew. */
  public static final List<String> UNREADABLE_TAGS = List.of("");

  private final boolean negative;
  private final boolean compressed;
  private final long softExpiryMillis;
  private final long loadStartMillis;
  private final long loadMillis;
  private final long epoch;
  private final long seq;
  private final int schemaVersion;
  private final List<String> tags;
  private final byte[] payload;

  /**
   * Makes an entry without tags.
   *
   * @param negative whether it says "there is no such value"; the payload is then empty
   * @param compressed whether the payload is compressed
   * @param softExpiryMillis until when it is fresh, store time; not negative
   * @param loadStartMillis when its load began, store time; not negative
   * @param loadMillis how long its load took; not negative
   * @param epoch the epoch of the fill lease it was loaded under, or {@link #NO_EPOCH}
   * @param seq the seq of that lease; not negative
   * @param schemaVersion the user's version of the type; not negative
   * @param payload the encoded value, not copied
   * @throws IllegalArgumentException if a number is negative
   */
  public StoredEntry(
      boolean negative,
      boolean compressed,
      long softExpiryMillis,
      long loadStartMillis,
      long loadMillis,
      long epoch,
      long seq,
      int schemaVersion,
      byte[] payload) {
    this(
        negative,
        compressed,
        softExpiryMillis,
        loadStartMillis,
        loadMillis,
        epoch,
        seq,
        schemaVersion,
        List.of(),
        payload);
  }

  /**
   * Makes an entry.
   *
   * @param negative whether it says "there is no such value"; the payload is then empty
   * @param compressed whether the payload is compressed
   * @param softExpiryMillis until when it is fresh, store time; not negative
   * @param loadStartMillis when its load began, store time; not negative
   * @param loadMillis how long its load took; not negative
   * @param epoch the epoch of the fill lease it was loaded under, or {@link #NO_EPOCH}
   * @param seq the seq of that lease; not negative
   * @param schemaVersion the user's version of the type; not negative
   * @param tags its tags; copied
   * @param payload the encoded value, not copied
   * @throws IllegalArgumentException if a number is negative
   */
  public StoredEntry(
      boolean negative,
      boolean compressed,
      long softExpiryMillis,
      long loadStartMillis,
      long loadMillis,
      long epoch,
      long seq,
      int schemaVersion,
      List<String> tags,
      byte[] payload) {
    this.negative = negative;
    this.compressed = compressed;
    this.softExpiryMillis = notNegative(softExpiryMillis, "softExpiryMillis");
    this.loadStartMillis = notNegative(loadStartMillis, "loadStartMillis");
    this.loadMillis = notNegative(loadMillis, "loadMillis");
    this.epoch = epoch;
    this.seq = notNegative(seq, "seq");
    this.schemaVersion = (int) notNegative(schemaVersion, "schemaVersion");
    this.tags = List.copyOf(tags);
    this.payload = requireNonNull(payload, "payload");
  }

  private static long notNegative(long value, String name) {
    if (value < 0) {
      throw new IllegalArgumentException(name + " must not be negative, is " + value);
    }
    return value;
  }

  /**
   * Tells whether this says that there is no such value in the source of truth.
   *
   * @return true for a negative entry
   */
  public boolean negative() {
    return negative;
  }

  /**
   * Tells whether the payload is compressed.
   *
   * @return true if it has to be decompressed before it is decoded
   */
  public boolean compressed() {
    return compressed;
  }

  /**
   * Returns until when the value is fresh.
   *
   * @return milliseconds, store time
   */
  public long softExpiryMillis() {
    return softExpiryMillis;
  }

  /**
   * Returns when the load of this value began.
   *
   * @return milliseconds, store time
   */
  public long loadStartMillis() {
    return loadStartMillis;
  }

  /**
   * Returns how long the load of this value took.
   *
   * @return milliseconds
   */
  public long loadMillis() {
    return loadMillis;
  }

  /**
   * Returns the epoch of the fill lease under which the value was loaded.
   *
   * @return 64 random bits, or {@link #NO_EPOCH}
   */
  public long epoch() {
    return epoch;
  }

  /**
   * Returns the seq of that lease inside its epoch.
   *
   * @return 1 for the first lease of an epoch; 0 where there is no epoch
   */
  public long seq() {
    return seq;
  }

  /**
   * Returns the version of the user's type that the payload was encoded with.
   *
   * @return the codec's schema version
   */
  public int schemaVersion() {
    return schemaVersion;
  }

  /**
   * Returns the tags under which the value can be invalidated together with others.
   *
   * @return unmodifiable; empty for none
   */
  public List<String> tags() {
    return tags;
  }

  /**
   * Returns the payload itself, not a copy: the caller must not change it.
   *
   * @return the encoded value; empty for a negative entry, and for a value that encodes to nothing
   */
  public byte[] payload() {
    return payload;
  }

  @Override
  public String toString() {
    return "StoredEntry[negative="
        + negative
        + ", compressed="
        + compressed
        + ", softExpiryMillis="
        + softExpiryMillis
        + ", loadStartMillis="
        + loadStartMillis
        + ", loadMillis="
        + loadMillis
        + ", epoch="
        + Long.toHexString(epoch)
        + ", seq="
        + seq
        + ", schemaVersion="
        + schemaVersion
        + ", tags="
        + tags.size()
        + ", payload="
        + payload.length
        + " bytes]";
  }
}
