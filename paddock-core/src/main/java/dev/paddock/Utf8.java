/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;

/** UTF-8 that refuses what it can't represent, where the JDK's quick methods replace it. */
final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';

  private Utf8() {}

  static byte[] encode(String text) throws CharacterCodingException {
    // Without surrogates all ways of encoding agree, and the quick one is safe.
    if (!hasSurrogates(text)) {
      return text.getBytes(UTF_8);
    }
    ByteBuffer encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  static String decode(byte[] bytes) throws CharacterCodingException {
    String quick = new String(bytes, UTF_8);
    // What stands for malformed bytes, unless it was written.
    return quick.indexOf(REPLACEMENT) < 0
        ? quick
        : UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
  }

  private static boolean hasSurrogates(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }
}
