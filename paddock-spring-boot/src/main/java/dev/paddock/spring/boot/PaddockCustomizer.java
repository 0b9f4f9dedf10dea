/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.Paddock;

/**
 * Changes how the application's {@link Paddock} is made: a bean of this type is called before it is
 * built, for listeners for example. Each option can be set once, so one that a property sets can't
 * be set here too.
 */
@FunctionalInterface
public interface PaddockCustomizer {
  /**
   * Sets options.
   *
   * @param builder the builder, with the store and the properties set
   */
  void customize(Paddock.Builder builder);
}
