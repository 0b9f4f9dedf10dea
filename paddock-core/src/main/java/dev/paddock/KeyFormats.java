/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.charset.CharacterCodingException;
import java.util.UUID;

/** The documented rule for keys, and parts to make others of. */
public final class KeyFormats {
  /** The longest key, in bytes: 64 KiB. */
  public static final int MAX_BYTES = 64 * 1024;

  private KeyFormats() {}

  /**
   * Returns the standard rule:
   *
   * <ul>
   *   <li>text ({@link CharSequence}) and {@link Character}: UTF-8; text that is no valid UTF-16 is
   *       refused;
   *   <li>{@link Long}, {@link Integer}, {@link Short}, {@link Byte}, {@link java.math.BigInteger},
   *       {@link Boolean}, {@link UUID}: as {@code toString()};
   *   <li>an enum: its {@code name()};
   *   <li>{@code byte[]}: as it is;
   *   <li>anything else is refused, because its {@code toString()} may differ between processes.
   * </ul>
   *
   * @param <K> the type of the keys
   * @return the format
   */
  public static <K> KeyFormat<K> standard() {
    return KeyFormats::standard;
  }

  private static byte[] standard(Object key) {
    if (key instanceof CharSequence || key instanceof Character) {
      return utf8(key.toString());
    }
    if (key instanceof Long
        || key instanceof Integer
        || key instanceof Short
        || key instanceof Byte
        || key instanceof java.math.BigInteger
        || key instanceof Boolean
        || key instanceof UUID) {
      return key.toString().getBytes(UTF_8);
    }
    if (key instanceof Enum<?> constant) {
      return constant.name().getBytes(UTF_8);
    }
    if (key instanceof byte[] bytes) {
      return bytes.clone();
    }
    throw new IllegalArgumentException(
        "there is no standard format for keys of type "
            + key.getClass().getName()
            + ": give the cache one with keyFormat(...)");
  }

  /**
   * Encodes text as UTF-8.
   *
   * @param text the text
   * @return its bytes
   * @throws IllegalArgumentException if the text has an unpaired surrogate
   */
  public static byte[] utf8(String text) {
    try {
      return Utf8.encode(text);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(
          "key of " + text.length() + " characters has an unpaired surrogate: not valid UTF-16", e);
    }
  }
}
