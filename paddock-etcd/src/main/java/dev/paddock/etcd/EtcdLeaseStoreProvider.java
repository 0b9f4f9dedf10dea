/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.LeaseStoreProvider;

/**
 * Opens {@code etcd://} and {@code etcds://} URIs for {@link
 * dev.paddock.LeaseLock#connect(String)}, as {@link EtcdLeases#connect(String)} does. Stateless.
 *
 * @since 0.1.0
 */
public final class EtcdLeaseStoreProvider implements LeaseStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public EtcdLeaseStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return EtcdUris.hasOurScheme(uri);
  }

  @Override
  public LeaseStoreFactory factory(String uri) {
    return EtcdLeases.connect(uri);
  }
}
