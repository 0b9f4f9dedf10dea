/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

/** The soak can't go on. */
final class SoakException extends RuntimeException {
  private static final long serialVersionUID = 1;

  SoakException(String message, Throwable cause) {
    super(message, cause);
  }

  SoakException(String message) {
    super(message);
  }
}
