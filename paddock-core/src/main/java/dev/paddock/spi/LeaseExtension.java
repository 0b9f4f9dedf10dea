/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/**
 * The answer to an extension.
 *
 * @param extended true if the lease lasts its full length again; false if it is another's or gone,
 *     for certain
 * @param millis if extended how long the lease is valid, counted from before the request was made;
 *     else 0
 */
public record LeaseExtension(boolean extended, long millis) {
  /** The lease is another's, or gone. */
  public static final LeaseExtension LOST = new LeaseExtension(false, 0);
}
