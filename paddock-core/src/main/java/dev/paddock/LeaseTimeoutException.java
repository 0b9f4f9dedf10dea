/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;

/** Another held the lease for the whole {@code waitTime}. */
public class LeaseTimeoutException extends PaddockException {
  private static final long serialVersionUID = 1;

  /** How long the caller waited. */
  private final Duration waited;

  /**
   * Makes an exception.
   *
   * @param message which lease, and what to do
   * @param waited how long the caller waited
   */
  public LeaseTimeoutException(String message, Duration waited) {
    super(message, null);
    this.waited = waited;
  }

  /**
   * Returns how long the caller waited.
   *
   * @return a duration that is not negative
   */
  public Duration waited() {
    return waited;
  }
}
