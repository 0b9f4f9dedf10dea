/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.paddock.Codec;
import dev.paddock.jackson2.Jackson2Codec;
import java.lang.reflect.Type;

/** Strict JSON by Jackson 2. */
final class Jackson2Codecs implements ValueCodecs {
  @Override
  public Codec<?> codecOf(Type type) {
    return Jackson2Codec.of(
        new TypeReference<Object>() {
          @Override
          public Type getType() {
            return type;
          }
        });
  }
}
