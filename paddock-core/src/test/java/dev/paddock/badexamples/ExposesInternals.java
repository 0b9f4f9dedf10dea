/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import dev.paddock.internal.Limits;
import dev.paddock.internal.SystemEnvironment;
import java.util.function.Supplier;

/** Public types must not show types of the engine. */
public class ExposesInternals {
  /** Nothing. */
  protected ExposesInternals() {}

  /**
   * Returns one.
   *
   * @return one
   */
  public SystemEnvironment returned() {
    return SystemEnvironment.create();
  }

  /**
   * Takes one.
   *
   * @param environment one
   */
  protected void taken(SystemEnvironment environment) {}

  /**
   * Hides one in a type argument.
   *
   * @return one
   */
  public Supplier<? extends SystemEnvironment[]> argument() {
    return () -> new SystemEnvironment[0];
  }

  /**
   * Bounds a type by one.
   *
   * @param <T> the type
   * @return one
   */
  public <T extends Limits> Class<T> bounded() {
    throw new UnsupportedOperationException();
  }
}
