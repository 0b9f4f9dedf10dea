/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/** A loader asked the cache for the very key that it was loading, which could never end. */
public class RecursiveLoadException extends PaddockException {
  private static final long serialVersionUID = 1;

  /**
   * Makes an exception.
   *
   * @param message which key, and what to do
   */
  public RecursiveLoadException(String message) {
    super(message, null);
  }
}
