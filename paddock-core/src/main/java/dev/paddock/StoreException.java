/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached, did not answer in time, or refused the operation.
 *
 * <p>Reads never throw it: a store that is gone costs them the protection of the fleet, not the
 * answer. Opening a store, {@code put}, {@code invalidate} and {@code expire} do.
 */
public class StoreException extends PaddockException {
  private static final long serialVersionUID = 1;

  /** Whether the operation may have happened. */
  private final boolean mayHaveHappened;

  /**
   * Makes an exception.
   *
   * @param message what failed and what to do
   * @param cause the client library's exception, or null
   * @param mayHaveHappened whether the operation may have happened in the store all the same
   */
  public StoreException(String message, @Nullable Throwable cause, boolean mayHaveHappened) {
    super(message, cause);
    this.mayHaveHappened = mayHaveHappened;
  }

  /**
   * Tells whether the outcome is unknown.
   *
   * @return true if the operation may have happened; false if it certainly did not
   */
  public boolean mayHaveHappened() {
    return mayHaveHappened;
  }
}
