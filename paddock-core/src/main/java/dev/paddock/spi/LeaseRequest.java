/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import static java.util.Objects.requireNonNull;

/**
 * Asks for a lease, once.
 *
 * @param name the lease
 * @param owner 32 hexadecimal digits, fresh for each request; a replay of the same request is
 *     recognised by it
 * @param leaseMillis how long the lease is to last; within the limits of the store
 * @param validForMillis a store that executes this later than so many milliseconds from now grants
 *     nothing; at least 1
 * @param waiting who asks, and who waits behind it: what the store has to remember for its hints
 */
public record LeaseRequest(
    String name, String owner, long leaseMillis, long validForMillis, Waiting waiting) {

  /** Who wants a hint when the lease is free again. */
  public enum Waiting {
    /** Nobody: the requester goes away if it is refused. */
    NOBODY,
    /** The requester, if it is refused. */
    REQUESTER,
    /** The requester if it is refused, and others of its process in any case. */
    OTHERS
  }

  /** Checks the values. */
  public LeaseRequest {
    requireNonNull(name, "name");
    requireNonNull(owner, "owner");
    requireNonNull(waiting, "waiting");
    if (leaseMillis < 1 || validForMillis < 1) {
      throw new IllegalArgumentException(
          "leaseMillis and validForMillis must be at least 1, are "
              + leaseMillis
              + " and "
              + validForMillis);
    }
  }
}
