/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/** A way to read that can also be told that a value is no longer right. */
interface InvalidatingReader extends Reader {
  /**
   * Deletes what is stored, if anything is.
   *
   * @param key the key
   * @throws Exception if that failed
   */
  void invalidate(String key) throws Exception;
}
