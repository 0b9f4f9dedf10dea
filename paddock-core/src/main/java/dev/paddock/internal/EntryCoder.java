/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheConfiguration;
import dev.paddock.CodecException;
import dev.paddock.spi.StoredEntry;
import java.io.ByteArrayOutputStream;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** Turns values into payloads and back: codec, compression, and the limits on size. */
final class EntryCoder<V> {
  private static final byte[] NOTHING = new byte[0];

  private final CacheConfiguration<?, V> config;
  private final int schemaVersion;

  EntryCoder(CacheConfiguration<?, V> config) {
    this.config = config;
    this.schemaVersion = config.codec().schemaVersion();
    if (schemaVersion < 0 || schemaVersion > 999_999_999) {
      throw new IllegalArgumentException(
          "the codec of cache "
              + config.name()
              + " has schema version "
              + schemaVersion
              + ": it must be between 0 and 999999999");
    }
  }

  int schemaVersion() {
    return schemaVersion;
  }

  /** What is to be stored: the bytes, and whether they are compressed. */
  static final class Payload {
    final byte[] bytes;
    final boolean negative;
    final boolean compressed;

    private Payload(byte[] bytes, boolean negative, boolean compressed) {
      this.bytes = bytes;
      this.negative = negative;
      this.compressed = compressed;
    }

    static Payload absent() {
      return new Payload(NOTHING, true, false);
    }
  }

  /**
   * Encodes a value.
   *
   * @return the payload, or null if it is larger than the limit
   * @throws CodecException if the codec fails
   */
  @Nullable Payload encode(V value) {
    byte[] plain;
    try {
      plain = config.codec().encode(value);
    } catch (CodecException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new CodecException(
          "the codec of cache "
              + config.name()
              + " could not encode a value of type "
              + value.getClass().getName(),
          e);
    }
    if (plain.length > config.maxValueBytes()) {
      return null;
    }
    if (plain.length > config.compressAbove()) {
      byte[] deflated = deflate(plain);
      if (deflated.length < plain.length) {
        return new Payload(deflated, false, true);
      }
    }
    return new Payload(plain, false, false);
  }

  /**
   * Decodes the payload of an entry that is not negative and of this schema version.
   *
   * @throws RuntimeException of any kind if that is impossible
   */
  V decode(StoredEntry entry) {
    byte[] bytes = entry.payload();
    if (entry.compressed()) {
      bytes = inflate(bytes);
    } else if (bytes.length > config.maxValueBytes()) {
      throw tooLarge();
    }
    V value = config.codec().decode(bytes);
    if (value == null) {
      throw new CodecException("the codec of cache " + config.name() + " decoded to null", null);
    }
    return value;
  }

  private CodecException tooLarge() {
    return new CodecException(
        "a payload is larger than maxValueBytes = " + config.maxValueBytes(), null);
  }

  private static byte[] deflate(byte[] plain) {
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    try {
      deflater.setInput(plain);
      deflater.finish();
      ByteArrayOutputStream out = new ByteArrayOutputStream(plain.length / 2 + 64);
      byte[] chunk = new byte[8192];
      while (!deflater.finished()) {
        out.write(chunk, 0, deflater.deflate(chunk));
      }
      return out.toByteArray();
    } finally {
      deflater.end();
    }
  }

  private byte[] inflate(byte[] packed) {
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(packed);
      ByteArrayOutputStream out = new ByteArrayOutputStream(packed.length * 2 + 64);
      byte[] chunk = new byte[8192];
      while (!inflater.finished()) {
        int count = inflater.inflate(chunk);
        if (count == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
          throw new CodecException("a compressed payload is cut short", null);
        }
        // Checked while it grows: a small payload may unpack to any size.
        if (out.size() + (long) count > config.maxValueBytes()) {
          throw tooLarge();
        }
        out.write(chunk, 0, count);
      }
      return out.toByteArray();
    } catch (DataFormatException e) {
      throw new CodecException("a compressed payload is damaged", e);
    } finally {
      inflater.end();
    }
  }
}
