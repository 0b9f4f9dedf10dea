/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import org.jspecify.annotations.Nullable;

/** One way to read through a cache. Thread-safe. */
interface Reading {
  /**
   * Reads the value of a cell, loading it if need be.
   *
   * @param cell the cell
   * @param terms how long to try
   * @return the value; null if it was not to be had in time
   * @throws Exception if it failed
   */
  @Nullable Leaderboard read(Cell cell, Terms terms) throws Exception;

  /** How long a caller tries. */
  interface Terms {
    /**
     * Tells whether the caller should go on trying.
     *
     * @return false if it has run out of time or the run is over
     */
    boolean goesOn();
  }

  /**
   * Stores a value that has expired when this returns.
   *
   * @param cell where
   * @param value the value
   * @throws InterruptedException if the thread was interrupted
   */
  void seedExpired(Cell cell, Leaderboard value) throws InterruptedException;

  /**
   * Removes the value.
   *
   * @param cell where
   */
  void invalidate(Cell cell);
}
