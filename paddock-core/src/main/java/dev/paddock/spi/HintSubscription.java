/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.util.concurrent.CompletionStage;

/** A wish to be told when something happens to a key. Hints may be lost, late or false. */
public interface HintSubscription {

  /**
   * Completes once the store delivers hints for this subscription: true when it does, false when it
   * can't (no right to the channel, no connection). Never completes exceptionally.
   *
   * @return whether hints will come
   */
  CompletionStage<Boolean> ready();

  /** Ends the subscription. Idempotent, never blocks, never throws. */
  void close();
}
