/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.nio.charset.CharacterCodingException;

/** Codecs that need no library. JSON is in {@code paddock-jackson}. */
public final class Codecs {
  private static final Codec<String> STRING = new Utf8Codec();
  private static final Codec<byte[]> BYTES = new BytesCodec();

  private Codecs() {}

  /**
   * Returns the codec for text, as UTF-8. Text with an unpaired surrogate is refused, and so are
   * bytes that are not UTF-8: nothing is replaced silently.
   *
   * @return the codec
   */
  public static Codec<String> string() {
    return STRING;
  }

  /**
   * Returns the codec for bytes, stored as they are. Arrays are copied in both directions.
   *
   * @return the codec
   */
  public static Codec<byte[]> bytes() {
    return BYTES;
  }

  private static final class Utf8Codec implements Codec<String> {
    @Override
    public byte[] encode(String value) {
      try {
        return Utf8.encode(value);
      } catch (CharacterCodingException e) {
        throw new CodecException(
            "text of " + value.length() + " characters has an unpaired surrogate: not valid UTF-16",
            e);
      }
    }

    @Override
    public String decode(byte[] payload) {
      try {
        return Utf8.decode(payload);
      } catch (CharacterCodingException e) {
        throw new CodecException("payload of " + payload.length + " bytes is not UTF-8", e);
      }
    }

    @Override
    public String toString() {
      return "Codecs.string()";
    }
  }

  private static final class BytesCodec implements Codec<byte[]> {
    @Override
    public byte[] encode(byte[] value) {
      return value.clone();
    }

    @Override
    public byte[] decode(byte[] payload) {
      return payload.clone();
    }

    @Override
    public String toString() {
      return "Codecs.bytes()";
    }
  }
}
