/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * The answer to an {@link AcquireRequest}.
 *
 * @param status what happened
 * @param epoch for a grant, {@code STALE}, {@code WAIT} and {@code COOLDOWN} the epoch of the
 *     lease, else 0; a waiter that sees another one knows that what it waited for came to nothing,
 *     or was missed
 * @param seq for a grant its seq inside the epoch, else 0
 * @param leftMillis for {@code FRESH}, {@code STALE}, {@code WAIT}, {@code COOLDOWN}, {@code
 *     HOLDOFF} and {@code MINE} how long that state lasts at most, else 0
 * @param entry the value that came along, where the status says that there may be one
 * @param unreadable whether a value was there but could not be read; {@code entry} is then null
 */
public record AcquireReply(
    Status status,
    long epoch,
    long seq,
    long leftMillis,
    @Nullable StoredEntry entry,
    boolean unreadable) {

  /** What happened. */
  public enum Status {
    /** A fresh value is there; it comes along. No lease was taken. */
    HIT,
    /** The lease is ours and there is no usable value. */
    GRANTED,
    /** The lease is ours; a stale value comes along. */
    STALE_GRANTED,
    /** The lease was ours already: the request was a replay. A stale value may come along. */
    MINE,
    /** Another holds the lease; the one degraded load beside it is ours. */
    DEGRADED,
    /** Another is loading although the value, which comes along, is still fresh. */
    FRESH,
    /** Another is loading; a stale value comes along. */
    STALE,
    /** Another is loading and there is no usable value. */
    WAIT,
    /**
     * A load failed a moment ago; nobody may start the next one yet. A stale value may come along.
     */
    COOLDOWN,
    /** Just invalidated: load, but do not store. A stale value may come along. */
    HOLDOFF,
    /** The store can't take a lease now (it is out of memory). A stale value may come along. */
    NO_LEASE,
    /** The request arrived after its time; nothing was done. */
    TOO_LATE
  }

  /** Checks the values. */
  public AcquireReply {
    requireNonNull(status, "status");
  }

  /**
   * Tells whether the caller now holds the lease.
   *
   * @return true for {@code GRANTED}, {@code STALE_GRANTED} and {@code MINE}
   */
  public boolean granted() {
    return status == Status.GRANTED || status == Status.STALE_GRANTED || status == Status.MINE;
  }
}
