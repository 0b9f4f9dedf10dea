/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import org.jspecify.annotations.Nullable;

/** One way to read. Thread-safe, unless it says otherwise. */
interface Reader extends AutoCloseable {
  /** Makes a value. */
  @FunctionalInterface
  interface Source {
    byte[] load();
  }

  /**
   * Reads a value.
   *
   * @param key the key
   * @param source makes the value if there is none; not used by a way that never loads
   * @return the value; null if there is none and this way never loads
   * @throws Exception if that failed
   */
  byte @Nullable [] read(String key, Source source) throws Exception;

  @Override
  void close();
}
