/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

/**
 * The one key that an experiment is about, and the terms on which it is cached.
 *
 * @param name unique for each repetition of each experiment; with Paddock the name of the cache
 * @param leaseMillis length of the lease, or of the lock
 * @param staleMillis how long a value is kept after it expired
 * @param coolDownMillis pause after a failed load
 */
record Cell(String name, long leaseMillis, long staleMillis, long coolDownMillis) {
  /** The key inside the cache. */
  static final String KEY = "world";

  /** How long a loaded value is fresh: longer than any experiment takes. */
  static final long TIME_TO_LIVE_MILLIS = 600_000;
}
