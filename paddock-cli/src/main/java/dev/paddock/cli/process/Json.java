/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.process;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/** One mapper for what processes say to each other. */
public final class Json {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  /**
   * Writes a value on one line.
   *
   * @param value the value
   * @return its JSON
   */
  public static String write(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /**
   * Reads a value.
   *
   * @param <T> its type
   * @param text its JSON
   * @param type its type
   * @return the value
   * @throws JacksonException if the text is something else
   */
  public static <T> T read(String text, Class<T> type) {
    return MAPPER.readValue(text, type);
  }
}
