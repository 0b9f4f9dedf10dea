/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/** What a plain read of a value found. */
public sealed interface ReadReply {

  /** The reply that nothing is stored there. */
  ReadReply MISSING = new Missing();

  /**
   * A value whose header could be read. Whether it is fresh is for the reader to decide.
   *
   * @param entry what is stored
   */
  record Found(StoredEntry entry) implements ReadReply {}

  /** Nothing is stored there. */
  record Missing() implements ReadReply {}

  /**
   * Something is stored there that is no value of ours: foreign bytes, another version of the
   * format, or another type of the store. It counts as a miss and is replaced by the next fill.
   *
   * @param reason what was wrong with it, without its contents
   */
  record Unreadable(String reason) implements ReadReply {}
}
