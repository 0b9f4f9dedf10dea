/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import org.jspecify.annotations.Nullable;

/**
 * What a cache knows about a key, told apart: a value, the knowledge that there is none, or
 * nothing.
 *
 * @param state which of the three
 * @param value the value; null unless {@code state} is {@link State#PRESENT}
 * @param stale whether it is past its soft TTL
 * @param <V> the type of the values
 */
public record Lookup<V>(State state, @Nullable V value, boolean stale) {

  /** Value, negative entry, or nothing. */
  public enum State {
    /** A value is cached. */
    PRESENT,
    /** It is cached that the source has no such value. */
    ABSENT,
    /** Nothing is cached. */
    MISSING
  }

  /**
   * Tells whether nothing is known.
   *
   * @return true if a load would be needed
   */
  public boolean isMissing() {
    return state == State.MISSING;
  }
}
