/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/**
 * Takes what happens to the keys of a space in any process of the fleet. Called on any thread; must
 * not block or throw.
 */
public interface ChangeListener {

  /**
   * A key was put, invalidated or expired.
   *
   * @param key which one
   */
  void changed(StoreKey key);

  /**
   * A barrier was raised.
   *
   * @param label which one, see {@link BarrierRequest#label()}
   * @param barrierMillis where it is now, milliseconds of the store's clock
   */
  void raised(String label, long barrierMillis);

  /** Messages may have been missed. */
  void missed();
}
