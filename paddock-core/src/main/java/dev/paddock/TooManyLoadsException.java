/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * As many loads run as may ({@link CacheBuilder#maxConcurrentLoads}, or that of the {@link
 * Paddock.Builder}), and as many wait as may. The caller had no stale value to fall back to and no
 * fallback. Nothing was loaded for it.
 */
public final class TooManyLoadsException extends PaddockException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes an exception.
   *
   * @param message what happened, and what to do
   */
  public TooManyLoadsException(String message) {
    super(message, null);
  }
}
