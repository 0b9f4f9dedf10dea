/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

/**
 * Finds the store of leases for a URI. Implementations are looked up by {@link
 * java.util.ServiceLoader}; {@link dev.paddock.LeaseLock#connect(String)} takes the one that
 * accepts the URI.
 */
public interface LeaseStoreProvider {
  /**
   * Tells whether this provider can open the URI, by its scheme.
   *
   * @param uri the URI
   * @return true if it can
   */
  boolean accepts(String uri);

  /**
   * Makes a factory for the URI, without connecting.
   *
   * @param uri the URI, with user and password as it may have
   * @return the factory
   * @throws IllegalArgumentException if the URI is malformed; the message never holds the password
   */
  LeaseStoreFactory factory(String uri);
}
