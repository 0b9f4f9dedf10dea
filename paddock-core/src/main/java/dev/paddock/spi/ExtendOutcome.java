/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/** What became of an extension. */
public enum ExtendOutcome {
  /** The lease now lasts its full length from the moment the store executed the request. */
  EXTENDED,
  /** The lease is no longer this owner's; it ran out, or was released. */
  LOST,
  /** The lease is gone because the key was invalidated or a fill of it was stored. */
  INVALIDATED
}
