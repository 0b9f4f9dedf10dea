/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/** The {@link Paddock} was closed, before the call or while it waited. */
public class PaddockClosedException extends PaddockException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param message which key
   */
  public PaddockClosedException(String message) {
    super(message, null);
  }
}
