/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

/** The ways to read that are compared. */
enum Strategy {
  /** Cache-aside without any protection. */
  UNPROTECTED,
  /** One load at a time in each process. */
  IN_PROCESS,
  /** A lock by EXISTS, then SET. */
  CHECK_THEN_SET,
  /** A lock by SETNX, then EXPIRE. */
  SETNX_THEN_EXPIRE,
  /** A lock by SET NX PX, released by DEL. */
  PLAIN_DEL,
  /** A lock by SET NX PX, released by a script that compares the token. */
  TOKEN_RELEASE,
  /** Paddock; callers wait for a fresh value. */
  PADDOCK_FRESH,
  /** Paddock; callers take a stale value. */
  PADDOCK_STALE;

  /**
   * Tells whether Paddock does it.
   *
   * @return false for the recipes
   */
  boolean isPaddock() {
    return this == PADDOCK_FRESH || this == PADDOCK_STALE;
  }
}
