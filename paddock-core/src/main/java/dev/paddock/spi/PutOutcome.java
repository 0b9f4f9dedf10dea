/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/** What became of a put. */
public enum PutOutcome {
  /** Stored. */
  STORED,
  /** The request arrived after its time; nothing was done. */
  TOO_LATE,
  /** Not stored: the store refused the write (it is out of memory). */
  REFUSED
}
