/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.LeaseStoreFactory;
import java.util.function.UnaryOperator;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;

/**
 * Leases on ZooKeeper (3.5 or later), reached through Curator: for where two holders would do
 * damage.
 *
 * <p>Guaranteed: as long as a majority of the ensemble keeps its data and its monotonic clocks run
 * at rates within one per cent of this process's, two leases of a name never overlap within their
 * validity, whatever servers crash, are paused or cut off. The fencing token is the transaction
 * that created the lease's node (czxid): it grows over the whole ensemble. Not guaranteed: that a
 * holder whose lease is over has stopped; only a resource that compares tokens closes that gap.
 *
 * <p>Each lease is one ephemeral node, {@code paddock/leases/<name>}. ZooKeeper frees it when the
 * session ends, which knows nothing of the lease's own time: this store ends it when that time is
 * over, and a holder that died is followed when its session has timed out. <b>A lease may last half
 * of the session time-out at most</b>: 15 seconds with the 30 seconds that {@link #connect} asks
 * for, and by ZooKeeper's own defaults 20 seconds at the very most. For longer work have the lease
 * renewed, see {@link dev.paddock.LeaseOptions#renewFor}; the default {@code leaseTime} of 30
 * seconds is refused. The shortest lease is 100 ms.
 *
 * <p>When ZooKeeper is slow, without a majority or out of reach, operations fail within a few
 * command time-outs, at once while there is no connection; the holder of a lease is told before its
 * validity ends, and at once when its session is lost. A new session never takes over a lease of an
 * old one.
 *
 * <p>Closing a lock does not free leases that are held: the session is left to time out.
 *
 * <p>The factories connect when {@link dev.paddock.LeaseLock.Builder#build()} opens them, and can
 * be opened more than once. They are thread-safe, and their {@code toString} shows no credentials.
 *
 * @since 0.1.0
 */
public final class ZooKeeperLeases {
  private ZooKeeperLeases() {}

  /**
   * Starts a client with a session of its own for each store, and closes it with the store. It asks
   * for a session time-out of 30 seconds.
   *
   * @param uri {@code zookeeper://user:password@host:2181,host:2181/path}. The path, under which
   *     the nodes are made, is made too if it is missing. User and password, for the scheme {@code
   *     digest}, may be left out, and so may the path and a port, which is 2181 then; special
   *     characters of user and password are percent-encoded. With a user, nodes can be used by that
   *     user only
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
   * @param options changes the client's options, once for each store: session time-out, rights, TLS
   *     (which needs Netty on the class path). Time-outs of operations are those of {@link
   *     dev.paddock.LeaseLock.Builder}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static LeaseStoreFactory connect(
      String uri, UnaryOperator<CuratorFrameworkFactory.Builder> options) {
    requireNonNull(options, "options");
    return new ZooKeeperLeaseStoreFactory(null, ZooKeeperUris.parse(uri), options);
  }

  /**
   * Uses the application's own client, its session, namespace and rights. The client is never
   * closed. Leases that are held when the lock is closed are freed at the end of their time, as
   * long as the client is open.
   *
   * @param client the client, started
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   */
  public static LeaseStoreFactory using(CuratorFramework client) {
    return new ZooKeeperLeaseStoreFactory(
        requireNonNull(client, "client"), null, UnaryOperator.identity());
  }
}
