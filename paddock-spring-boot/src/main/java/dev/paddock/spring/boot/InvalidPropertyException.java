/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.util.Objects;

/** A property has a value that is out of range, or that contradicts another. */
final class InvalidPropertyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The name of the property. */
  private final String property;

  InvalidPropertyException(String property, Object value, RuntimeException cause) {
    super(property + " = " + value + ": " + cause.getMessage(), cause);
    this.property = property;
  }

  InvalidPropertyException(String property, RuntimeException cause) {
    super(property + ": " + Objects.requireNonNullElse(cause.getMessage(), ""), cause);
    this.property = property;
  }

  String property() {
    return property;
  }
}
