/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a key of a server held when somebody looked.
 *
 * @param type {@code "string"}, {@code "hash"}, or another of Redis's types
 * @param string the value of a string, as Latin-1 text (a character for each byte), else null
 * @param fields the fields of a hash by name, as Latin-1 text, else empty
 * @param ttlMillis how long it will live; -1 if for ever
 * @since 0.1.0
 */
public record KeyState(
    String type, @Nullable String string, Map<String, String> fields, long ttlMillis) {

  /** Keeps the order of the fields. */
  public KeyState {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  /** Shows the beginning of the value. */
  @Override
  public String toString() {
    String value = string == null ? fields.toString() : string;
    return type
        + " "
        + (value.length() > 200 ? value.substring(0, 200) + "..." : value)
        + " ttl "
        + ttlMillis
        + " ms";
  }
}
