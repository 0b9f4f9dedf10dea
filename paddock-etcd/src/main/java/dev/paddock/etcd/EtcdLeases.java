/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.LeaseStoreFactory;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import java.util.function.UnaryOperator;

/**
 * Leases on etcd (3.4 or later), reached through jetcd: for where two holders would do damage.
 *
 * <p>Guaranteed: as long as a majority of etcd's members keep their data and their monotonic clocks
 * run at rates within one per cent of this process's, two leases of a name never overlap within
 * their validity, whatever members crash, are paused or cut off. The fencing token is the revision
 * that created the lease's key: it grows over the whole cluster. Not guaranteed: that a holder
 * whose lease is over has stopped; only a resource that compares tokens closes that gap.
 *
 * <p>Each lease is one key, {@code paddock/lease/<name>}, under an etcd lease of its own that is
 * never shared. The shortest lease is 1 second and the longest 1 day. etcd counts in whole seconds,
 * and by default knows no lease shorter than 2: what a holder that died has left may last so much
 * longer than its {@code leaseTime}.
 *
 * <p>When etcd is slow or without a majority, operations fail within a few command time-outs, and
 * the holder of a lease is told before its validity ends.
 *
 * <p>The factories connect when {@link dev.paddock.LeaseLock.Builder#build()} opens them, and can
 * be opened more than once. They are thread-safe, and their {@code toString} shows no credentials.
 *
 * @since 0.1.0
 */
public final class EtcdLeases {
  private EtcdLeases() {}

  /**
   * Starts a client of its own for each store, and closes it with the store.
   *
   * @param uri {@code etcd://user:password@host:2379,host:2379}, or {@code etcds://} for TLS with
   *     the JVM's trust store. User and password may be left out, and so may a port, which is 2379
   *     then; special characters of user and password are percent-encoded
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static LeaseStoreFactory connect(String uri) {
    return connect(uri, UnaryOperator.identity());
  }

  /**
   * As {@link #connect(String)}, with options of the client.
   *
   * @param uri as for {@link #connect(String)}
   * @param options changes the client's options, once for each store: certificates, an authority,
   *     interceptors, a namespace. Time-outs of operations are those of {@link
   *     dev.paddock.LeaseLock.Builder}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static LeaseStoreFactory connect(String uri, UnaryOperator<ClientBuilder> options) {
    requireNonNull(options, "options");
    return new EtcdLeaseStoreFactory(null, EtcdUris.parse(uri), options);
  }

  /**
   * Uses the application's own client, with its own options. The client is never closed; only the
   * watches made here are. Processes that are to exclude each other must use the same namespace.
   *
   * @param client the client
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   */
  public static LeaseStoreFactory using(Client client) {
    return new EtcdLeaseStoreFactory(
        requireNonNull(client, "client"), null, UnaryOperator.identity());
  }
}
