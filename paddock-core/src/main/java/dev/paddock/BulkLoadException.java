/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * Some keys of a {@code getAll} failed. All others were settled before, and {@link #result} has
 * what they gave; the cause is the failure of the first key, the further ones (eight at most) are
 * suppressed exceptions.
 */
public final class BulkLoadException extends PaddockException {
  private static final long serialVersionUID = 1;

  private static final int SUPPRESSED_MAX = 8;

  /** What became of each key; of no use after serialization, which loses it. */
  @SuppressWarnings("serial") // transient: keys and values need not be serializable
  private final transient BulkResult<?, ?> result;

  /**
   * Makes an exception.
   *
   * @param message which keys, and what to do
   * @param result what became of each key, with at least one failure
   */
  public BulkLoadException(String message, BulkResult<?, ?> result) {
    super(message, result.failures().values().iterator().next());
    this.result = result;
    result.failures().values().stream().skip(1).limit(SUPPRESSED_MAX).forEach(this::addSuppressed);
  }

  /**
   * Returns what became of each key. {@code tryGetAll} returns the same, with its types.
   *
   * @return the outcomes of all keys
   */
  public BulkResult<?, ?> result() {
    return result;
  }
}
