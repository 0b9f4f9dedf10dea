/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * The calling thread was interrupted while it waited or loaded. Its interrupt flag is set again
 * when this is thrown. Other callers of the same key are not touched.
 */
public class PaddockInterruptedException extends PaddockException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param message which key
   * @param cause what the loader threw because of it, or null
   */
  public PaddockInterruptedException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
