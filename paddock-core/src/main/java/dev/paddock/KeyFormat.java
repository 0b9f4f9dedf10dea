/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * Turns a cache's keys into bytes. Different keys must give different bytes, the same key the same
 * bytes in every process and version of the application.
 *
 * <p>{@link KeyFormats#standard()} covers text, numbers, UUIDs, enums and bytes. For any other type
 * give the cache a format of its own: {@code KeyFormat<Route> f = r -> KeyFormats.utf8(r.from() +
 * "/" + r.to())}.
 *
 * @param <K> the type of the keys
 */
@FunctionalInterface
public interface KeyFormat<K> {
  /**
   * Turns a key into bytes.
   *
   * @param key the key
   * @return its bytes, at most {@link KeyFormats#MAX_BYTES}; none is a valid key
   * @throws IllegalArgumentException if there is no safe form
   */
  byte[] format(K key);
}
