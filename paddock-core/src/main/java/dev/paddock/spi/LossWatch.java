/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.util.function.Consumer;

/**
 * What a {@link LeaseStore} can do in addition that hears of a loss by itself: from the session
 * that a lease hangs on, for example. The engine then need not wait for the next extension to know.
 */
public interface LossWatch {

  /** What the store has heard. */
  enum Signal {
    /** The lease may be lost; the engine asks at once. */
    SUSPECT,
    /** The lease is lost for certain. */
    LOST
  }

  /**
   * Watches a lease that was granted.
   *
   * @param name the lease
   * @param owner its owner
   * @param onSignal takes each signal, on any thread; must not block or throw
   * @return ends the watch; idempotent, never blocks, never throws
   */
  Runnable watch(String name, String owner, Consumer<Signal> onSignal);
}
