/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;

/**
 * Another caller or process was loading the value and did not finish in time: {@code maxWait} ran
 * out for a waiter, or {@code maxLoadTime} for a load.
 */
public class FillTimeoutException extends PaddockException {
  private static final long serialVersionUID = 1;

  /** When to try again. */
  private final Duration retryAfter;

  /**
   * Makes an exception.
   *
   * @param message which key, how long it took, and what to do
   * @param retryAfter when trying again makes sense
   */
  public FillTimeoutException(String message, Duration retryAfter) {
    super(message, null);
    this.retryAfter = retryAfter;
  }

  /**
   * Returns how long to wait before trying again makes sense, for a {@code Retry-After} header for
   * example.
   *
   * @return a duration that is not negative
   */
  public Duration retryAfter() {
    return retryAfter;
  }
}
