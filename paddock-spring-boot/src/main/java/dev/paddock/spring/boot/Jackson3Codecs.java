/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.Codec;
import dev.paddock.jackson.JacksonCodec;
import java.lang.reflect.Type;
import tools.jackson.core.type.TypeReference;

/** Strict JSON by Jackson 3. */
final class Jackson3Codecs implements ValueCodecs {
  @Override
  public Codec<?> codecOf(Type type) {
    return JacksonCodec.of(
        new TypeReference<Object>() {
          @Override
          public Type getType() {
            return type;
          }
        });
  }
}
