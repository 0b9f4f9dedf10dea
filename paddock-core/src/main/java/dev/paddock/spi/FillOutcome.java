/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/** What became of a fill. */
public enum FillOutcome {
  /** Stored, and the lease is free. */
  STORED,
  /** Stored although the lease had run out: nothing newer had happened. A newer holder stays. */
  STORED_LATE,
  /** Not stored: a later lease of the same epoch has stored already. */
  SUPERSEDED,
  /** Not stored: the key was invalidated after the lease was granted. */
  INVALIDATED,
  /** Not stored: the store refused the write (it is out of memory). */
  REFUSED
}
