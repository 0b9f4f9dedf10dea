/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.HintSubscription;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The subscription of a store that is closed. */
enum NoHints implements HintSubscription {
  INSTANCE;

  @Override
  public CompletionStage<Boolean> ready() {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public void close() {}
}
