/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * Turns values into bytes and back.
 *
 * <p>A codec must be thread-safe and must not keep what it is given. It never sees null: that a
 * value is absent is said beside the payload, so an empty payload is a value like any other.
 *
 * @param <V> the type of the values
 */
public interface Codec<V> {

  /**
   * Encodes a value.
   *
   * @param value the value
   * @return its bytes, possibly none, which the codec must not change afterwards
   * @throws CodecException if the value can't be encoded
   */
  byte[] encode(V value);

  /**
   * Decodes a payload that {@link #encode} made at this {@link #schemaVersion()}.
   *
   * @param payload the bytes; the codec must not change them
   * @return the value
   * @throws RuntimeException of any kind if it can't be decoded; the payload then counts as missing
   *     and is replaced
   */
  V decode(byte[] payload);

  /**
   * Returns the version of the encoded type. A stored value of another version counts as missing,
   * so a rolling deployment that raises it neither misreads values nor crashes.
   *
   * @return 0 to 999,999,999; 0 by default
   */
  default int schemaVersion() {
    return 0;
  }
}
