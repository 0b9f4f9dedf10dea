/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/** How a lease ended. */
public enum LeaseOutcome {
  /** Given back while it was valid. */
  RELEASED,
  /** It had run out by the time it was given back: another may have held it meanwhile. */
  EXPIRED,
  /** It was taken away before its time: another holds it, or the store lost it. */
  LOST,
  /**
   * The store did not answer in time. The release is repeated in the background; at the latest the
   * lease runs out by itself.
   */
  UNKNOWN
}
