/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.util.Objects.requireNonNull;

/**
 * One of the independent servers of a {@link RedlockLeaseStore}. Immutable.
 *
 * @param address how the configuration names the server: all clients must use the same names, and
 *     messages show it. No password
 * @param transport the connection; the store owns and closes it
 */
public record RedlockNode(String address, RedisTransport transport) {
  /** Checks the values. */
  public RedlockNode {
    requireNonNull(address, "address");
    requireNonNull(transport, "transport");
  }
}
