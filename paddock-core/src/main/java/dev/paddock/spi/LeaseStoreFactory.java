/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/** Makes a store of leases for one {@link dev.paddock.LeaseLock}. */
@FunctionalInterface
public interface LeaseStoreFactory {
  /**
   * Connects and checks the store. May block, for no longer than the options' connect time-out.
   *
   * @param environment clocks, timers, executor, randomness
   * @param options what the store has to know
   * @return a store that is ready
   * @throws dev.paddock.StoreException if it can't be reached, refuses the credentials, or is not
   *     fit for leases
   */
  LeaseStore open(Environment environment, StoreOptions options);
}
