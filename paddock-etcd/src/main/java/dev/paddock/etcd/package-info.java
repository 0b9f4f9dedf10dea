/**
 * Leases on etcd: {@link dev.paddock.etcd.EtcdLeases} makes stores from a URI or on an
 * application's own client; {@link dev.paddock.etcd.EtcdLeaseStoreProvider} does it for {@link
 * dev.paddock.LeaseLock#connect(String)}. All else is internal.
 *
 * <p>{@code EtcdUris} (what a URI says), {@code EtcdLeaseStoreFactory} (connects, and checks that
 * there is an answer), {@code EtcdLeaseStore} (the protocol), {@code Acquisition} (what is known of
 * one of our own leases), {@code LeaseRecord} (the value of its key), {@code KeyWatch} (told when
 * the key goes), {@code Commands} (time-outs), {@code Failures} (what an error means).
 */
@NullMarked
package dev.paddock.etcd;

import org.jspecify.annotations.NullMarked;
