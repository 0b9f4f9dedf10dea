/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import org.jspecify.annotations.Nullable;

/** A figure can't be measured. */
final class BenchmarkException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BenchmarkException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
