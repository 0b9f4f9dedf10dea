/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/** What became of {@link Lease#extend()}. */
public enum ExtensionOutcome {
  /** The lease lasts its full length again. */
  EXTENDED,
  /** Refused: the lease is over. */
  LOST,
  /** The store did not answer in time; the lease lasts as long as before, or longer. */
  UNKNOWN
}
