/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The loader failed, for this caller or for the one it waited for. Each caller gets an exception of
 * its own; the loader's exception is the cause.
 *
 * <p>Without a cause it says that a load failed a moment ago, here or in another process, and that
 * nobody loads again before the cool-down is over.
 */
public class LoadFailedException extends PaddockException {
  private static final long serialVersionUID = 1;

  /** When to try again. */
  private final Duration retryAfter;

  /**
   * Makes an exception.
   *
   * @param message which key, and what to do
   * @param cause what the loader threw; null if it failed in another process
   * @param retryAfter how long the cool-down lasts at most
   */
  public LoadFailedException(String message, @Nullable Throwable cause, Duration retryAfter) {
    super(message, cause);
    this.retryAfter = retryAfter;
  }

  /**
   * Returns how long to wait before trying again makes sense.
   *
   * @return a duration that is not negative
   */
  public Duration retryAfter() {
    return retryAfter;
  }
}
