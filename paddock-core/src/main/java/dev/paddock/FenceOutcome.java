/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * What a resource says to a write that carries a fencing token. It accepts a token greater than the
 * last one that it accepted, and the same one again from the same lease.
 */
public sealed interface FenceOutcome {

  /**
   * Returns the token that the write carried.
   *
   * @return the token
   */
  long token();

  /**
   * Tells whether the write has happened.
   *
   * @return true if so
   */
  default boolean accepted() {
    return this instanceof Accepted;
  }

  /**
   * The write has happened.
   *
   * @param token the token that it carried, now the last one accepted
   */
  record Accepted(long token) implements FenceOutcome {}

  /**
   * The write has not happened: a later holder has written before, or one with the same token from
   * another lease.
   *
   * @param token the token that it carried
   * @param lastToken the last token accepted
   */
  record Rejected(long token, long lastToken) implements FenceOutcome {}
}
