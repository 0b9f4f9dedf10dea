/**
 * Leases on ZooKeeper: {@link dev.paddock.zookeeper.ZooKeeperLeases} makes stores from a URI or on
 * an application's own client; {@link dev.paddock.zookeeper.ZooKeeperLeaseStoreProvider} does it
 * for {@link dev.paddock.LeaseLock#connect(String)}. All else is internal.
 *
 * <p>{@code ZooKeeperUris} (what a URI says), {@code ZooKeeperLeaseStoreFactory} (connects), {@code
 * ZooKeeperLeaseStore} (the protocol), {@code Sessions} (the session of now, and how long it is
 * known to live), {@code SessionLife} (that reckoning), {@code Requests} (one request in one
 * session, with a time-out), {@code Acquisition} (one of our own leases), {@code LeaseNodes} (paths
 * and data), {@code NodeHints} (told when a node goes), {@code LeavingZooKeeper} (a session that
 * can be left without ending it), {@code Failures} (what an error means).
 */
@NullMarked
package dev.paddock.zookeeper;

import org.jspecify.annotations.NullMarked;
