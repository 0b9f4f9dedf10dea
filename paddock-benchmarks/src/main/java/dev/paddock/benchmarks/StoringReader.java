/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/** A way to read that can also be given what it is to find. */
interface StoringReader extends Reader {
  /**
   * Stores a value that lives as long as a run.
   *
   * @param key the key
   * @param value the value
   * @throws Exception if that failed
   */
  void store(String key, byte[] value) throws Exception;
}
