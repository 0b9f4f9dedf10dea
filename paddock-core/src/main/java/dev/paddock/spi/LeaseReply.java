/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

/**
 * The answer to a {@link LeaseRequest}.
 *
 * @param status what happened
 * @param token for {@code GRANTED} the fencing token, else 0
 * @param millis for {@code GRANTED} how long the lease is valid, counted from <em>before</em> the
 *     request was made, with what the store takes off for clocks that run at different rates; for
 *     {@code HELD} how long the holder's lease lasts at most unless it is extended, 0 if that is
 *     unknown; else 0
 */
public record LeaseReply(Status status, long token, long millis) {

  /** What happened. */
  public enum Status {
    /** The lease is ours. */
    GRANTED,
    /** Another holds it, or two asked at once and neither got it. */
    HELD,
    /** The request arrived after its time; nothing was done. */
    TOO_LATE
  }

  /** Checks the values. */
  public LeaseReply {
    requireNonNull(status, "status");
  }
}
