/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.LeaseStoreProvider;

/**
 * Opens {@code zookeeper://} URIs for {@link dev.paddock.LeaseLock#connect(String)}, as {@link
 * ZooKeeperLeases#connect(String)} does. Stateless.
 *
 * @since 0.1.0
 */
public final class ZooKeeperLeaseStoreProvider implements LeaseStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public ZooKeeperLeaseStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return ZooKeeperUris.hasOurScheme(uri);
  }

  @Override
  public LeaseStoreFactory factory(String uri) {
    return ZooKeeperLeases.connect(uri);
  }
}
