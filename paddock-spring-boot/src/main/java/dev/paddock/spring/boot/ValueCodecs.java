/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.Codec;
import java.lang.reflect.Type;

/**
 * Makes the codecs of cached values, one for each type that a cache holds. A bean of this type
 * takes the place of the strict JSON codecs. Implementations must be thread-safe.
 *
 * <p>The type is named by the application, by the return type of a method or by the property {@code
 * paddock.caches.<name>.types}, never by what is stored.
 */
@FunctionalInterface
public interface ValueCodecs {
  /**
   * Makes the codec of a type.
   *
   * @param type the type, without variables
   * @return a codec
   * @throws IllegalArgumentException if values of the type can't be encoded or decoded; the message
   *     says why
   */
  Codec<?> codecOf(Type type);
}
