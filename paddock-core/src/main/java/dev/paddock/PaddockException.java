/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * The root of what Paddock throws. Unchecked. No exception of a client library crosses the API
 * except as a cause, and no message holds a secret.
 */
public class PaddockException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param message what, which key or option, which value, what to do
   * @param cause why, or null
   */
  protected PaddockException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
