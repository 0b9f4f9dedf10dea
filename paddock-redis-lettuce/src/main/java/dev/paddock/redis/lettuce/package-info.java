/**
 * The Lettuce transport: {@link dev.paddock.redis.lettuce.LettuceRedis} makes stores from a URI or
 * from an application's own client; {@link dev.paddock.redis.lettuce.LettuceStoreProvider} does it
 * for {@link dev.paddock.Paddock#connect(String)}. All else is internal.
 *
 * <p>From outside in: {@code LettuceTransport} (one connection for commands), {@code Link} (what
 * happens to commands while that connection is down), {@code PrimaryCheck} (with Sentinels: is the
 * server that they named a primary?), {@code ReplicaReads} (GET to replicas, for who asked for it),
 * {@code Call} (one command and its reply), {@code HintChannels} (one connection for
 * subscriptions), {@code OwnedClient} (the client that we start and stop ourselves).
 *
 * <p>On a cluster: {@code ClusterTransport} (who gets a command, and what an answer means), {@code
 * ClusterNode} (a link and a connection to each node), {@code Topology} (who is master of which
 * slot), {@code ClusterHints} (where subscriptions are).
 */
@NullMarked
package dev.paddock.redis.lettuce;

import org.jspecify.annotations.NullMarked;
