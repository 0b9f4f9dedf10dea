/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * A value could not be encoded, or a payload not decoded.
 *
 * <p>A payload that can't be decoded counts as a miss and an event; only encoding reaches a caller.
 */
public class CodecException extends PaddockException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param message which type, and what to do; never the value itself
   * @param cause why, or null
   */
  public CodecException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
