/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.Locale;

/** What a plan is made of: what users do, and what goes wrong meanwhile. */
enum Kind {
  GET,
  GET_FRESH,
  GET_MANY,
  /** A get whose callback gets again, as a retry does. */
  GET_AGAIN,
  LOOKUP,
  CHANGE,
  INVALIDATE,
  EXPIRE,
  PUT,
  REFRESH,
  ACQUIRE,
  RUN,
  READ_REGISTER,
  /** A bulk read. */
  GET_ALL,
  INVALIDATE_TAG,
  CLEAR,

  /** Some messages take very long. */
  SLOW(true),
  LOST_REQUEST(true),
  LOST_REPLY(true),
  /** The connection breaks, and the sender is told at once. */
  BROKEN(true),
  DUPLICATE(true),
  /** Messages overtake each other. */
  REORDER(true),
  /** A process and a server don't reach each other. */
  PARTITION(true),
  /** Only one of two directions is cut. */
  ONE_WAY(true),
  /** A process is stopped at one of its steps. */
  FREEZE(true),
  /** A process dies; another takes its place. */
  KILL(true),
  /** A process's wall clock jumps. */
  WALL_STEP(true),
  /** The clocks of processes and servers go at different speeds, within what the drift allows. */
  RATE(true),
  SERVER_STEP(true),
  SERVER_DOWN(true),
  /** A server restarts with all its data. */
  RESTART(true),
  /** A server restarts without data. */
  RESTART_LOST(true),
  /** A stale replica takes over, or an older dump is restored. */
  ROLLED_BACK(true),
  SCRIPT_FLUSH(true),
  READONLY(true),
  OOM(true),
  EVICTION(true),
  FLUSHALL(true),
  /** The source of truth fails. */
  FAILING_LOAD(true),
  /** A load takes longer than its lease, or never ends. */
  LONG_LOAD(true);

  private final boolean fault;

  Kind() {
    this(false);
  }

  Kind(boolean fault) {
    this.fault = fault;
  }

  boolean isFault() {
    return fault;
  }

  /** As it is shown. */
  String shown() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
