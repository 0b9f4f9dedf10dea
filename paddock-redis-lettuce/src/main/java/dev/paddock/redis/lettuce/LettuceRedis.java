/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreFactory;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.Collection;
import java.util.List;

/**
 * Stores in Redis (6.2 or later) or Valkey (7.2 or later), reached through Lettuce: one multiplexed
 * connection for commands, and one for push hints that is opened when somebody first waits.
 *
 * <p>A Redis Cluster takes one connection for commands to each master in use, one for push hints to
 * each master on whose keys somebody waits, and one or two more that Lettuce keeps.
 *
 * <p>The factories connect when {@link dev.paddock.Paddock.Builder#build()} opens them, and can be
 * opened more than once. They are thread-safe, and their {@code toString} shows no credentials.
 *
 * <p>While Redis is gone, commands that arrive within one command time-out of the loss wait for the
 * reconnect; later ones fail at once. Reconnecting goes on for ever, at most a second apart.
 *
 * <p><b>Sentinel.</b> A URI may name Sentinels instead of a server. They are asked for the primary
 * at each connect, in the order of the URI, and a server that says that it is a replica is left
 * again before a command is sent to it. Each of the steps of connecting (each Sentinel, the
 * primary) may take an equal share of the connect time-out. A failover loses what the old primary
 * had not replicated: an invalidation too.
 *
 * <p><b>Reads from replicas.</b> With a {@link ReadFrom} other than {@link ReadFrom#UPSTREAM}
 * values are read (GET, nothing else) where it says; everything else goes to the primary. That
 * gives up a guarantee: a read that starts after {@code invalidate} or {@code put} has returned may
 * still get the older value, for as long as the replica lags. A replica that fails, or is silent
 * for half a command time-out, is passed over: the primary is asked. With Sentinels, replicas that
 * come and go are noticed; without, the replicas are those that the server knew when the store was
 * opened.
 */
public final class LettuceRedis {
  private static final int REDLOCK_SERVERS_MIN = 3;

  private LettuceRedis() {}

  /**
   * Uses the application's own client, with the client's own options, and reads from the primary.
   * The client is never shut down; only the connections made here are closed.
   *
   * @param client the client; auto-reconnect must be on
   * @param uri the server, or Sentinels and the name of the primary; database, users, passwords and
   *     TLS are taken from it, its time-out is not ({@link
   *     dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host, or the client does not reconnect by
   *     itself: a connection that was lost once would then stay lost
   */
  public static StoreFactory using(RedisClient client, RedisURI uri) {
    return using(client, uri, ReadFrom.UPSTREAM);
  }

  /**
   * Uses the application's own client, with the client's own options. The client is never shut
   * down; only the connections made here are closed.
   *
   * @param client the client; auto-reconnect must be on
   * @param uri the server, or Sentinels and the name of the primary; database, users, passwords and
   *     TLS are taken from it, its time-out is not ({@link
   *     dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @param readFrom where values are read; see above for what is given up
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host, or the client does not reconnect by
   *     itself: a connection that was lost once would then stay lost
   */
  public static StoreFactory using(RedisClient client, RedisURI uri, ReadFrom readFrom) {
    requireNonNull(client, "client");
    requireNonNull(readFrom, "readFrom");
    requireReconnect(client.getOptions());
    return new LettuceStoreFactory(client, RedisUris.checked(uri), readFrom);
  }

  private static void requireReconnect(ClientOptions options) {
    if (!options.isAutoReconnect()) {
      throw new IllegalArgumentException(
          "the client has auto-reconnect switched off, so that a lost connection would stay"
              + " lost: set ClientOptions.builder().autoReconnect(true)");
    }
  }

  /**
   * Uses the application's own client of a Redis Cluster, with the client's own options. The client
   * is never shut down; only the connections made here are closed. The topology that the client
   * holds is read anew when a node's answer shows that it is out of date.
   *
   * @param client the client; auto-reconnect must be on
   * @return a factory
   * @throws IllegalArgumentException if the client does not reconnect by itself
   */
  public static StoreFactory using(RedisClusterClient client) {
    requireNonNull(client, "client");
    requireReconnect(client.getOptions());
    return new ClusterStoreFactory(client, List.of());
  }

  /**
   * Starts a client of a Redis Cluster for each store, and shuts it down with the store.
   *
   * @param nodes some of the cluster's nodes, from which the others are learned; user, password,
   *     TLS and client name are taken from the first
   * @return a factory
   * @throws IllegalArgumentException if there is no node, or a URI names no host, names Sentinels,
   *     or a database other than 0
   */
  public static StoreFactory connect(Collection<RedisURI> nodes) {
    return new ClusterStoreFactory(null, RedisUris.seeds(nodes));
  }

  /**
   * Starts a client of its own for each store, and shuts it down with the store. Reads from the
   * primary.
   *
   * @param uri the server, or Sentinels and the name of the primary; database, users, passwords and
   *     TLS are taken from it, its time-out is not ({@link
   *     dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host
   */
  public static StoreFactory connect(RedisURI uri) {
    return connect(uri, ReadFrom.UPSTREAM);
  }

  /**
   * Starts a client of its own for each store, and shuts it down with the store.
   *
   * @param uri the server, or Sentinels and the name of the primary; database, users, passwords and
   *     TLS are taken from it, its time-out is not ({@link
   *     dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @param readFrom where values are read; see above for what is given up
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host
   */
  public static StoreFactory connect(RedisURI uri, ReadFrom readFrom) {
    requireNonNull(readFrom, "readFrom");
    return new LettuceStoreFactory(null, RedisUris.checked(uri), readFrom);
  }

  /**
   * Starts a client of its own for each store, and shuts it down with the store. Reads from the
   * primary.
   *
   * @param uri {@code redis://user:password@host:6379/0}, or {@code rediss://} for TLS. User,
   *     password, port and database may be left out ({@code :password@} is the default user).
   *     Special characters of user and password are percent-encoded. Parameters: {@code clientName}
   *     and {@code verifyPeer} ({@code FULL}, {@code CA} or {@code NONE}; {@code FULL} by default).
   *     Several hosts, {@code redis://host:6379,host:6379}, are nodes of a Redis Cluster, from
   *     which the others are learned; one host that turns out to be such a node will do as well.
   *     For Sentinels {@code redis-sentinel://user:password@host1:26379,host2:26379/0#name} (or
   *     {@code rediss-sentinel://} for TLS to all of them): user and password are those of the
   *     primary, and Sentinels that want a password take a {@link RedisURI}
   * @return a factory
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static StoreFactory connect(String uri) {
    return connect(uri, ReadFrom.UPSTREAM);
  }

  /**
   * Starts a client of its own for each store, and shuts it down with the store.
   *
   * @param uri as for {@link #connect(String)}
   * @param readFrom where values are read; see above for what is given up
   * @return a factory
   * @throws IllegalArgumentException if the URI is malformed (the message holds no part of what may
   *     be user or password), or names nodes of a cluster to be read elsewhere than on its masters
   */
  @SuppressWarnings("ReferenceEquality") // Lettuce's constants
  public static StoreFactory connect(String uri, ReadFrom readFrom) {
    requireNonNull(readFrom, "readFrom");
    if (!RedisUriText.isList(uri)) {
      return new LettuceStoreFactory(null, RedisUris.parse(uri), readFrom);
    }
    if (readFrom != ReadFrom.UPSTREAM) {
      throw new IllegalArgumentException(
          "values of a cluster are read from its masters only: leave out readFrom");
    }
    return new ClusterStoreFactory(null, RedisUris.parseAll(uri));
  }

  /**
   * Keeps leases on the server, Sentinels' primary or cluster that a URI names, with a client of
   * its own that is shut down with the store.
   *
   * @param uri as for {@link #connect(String)}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static LeaseStoreFactory leases(String uri) {
    return RedisUriText.isList(uri)
        ? new ClusterStoreFactory(null, RedisUris.parseAll(uri)).leases(0)
        : leases(RedisUris.parse(uri));
  }

  /**
   * Keeps leases on the server, or Sentinels' primary, that a URI names, with a client of its own
   * that is shut down with the store.
   *
   * @param uri as for {@link #connect(RedisURI)}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI names no host
   */
  public static LeaseStoreFactory leases(RedisURI uri) {
    return new LettuceStoreFactory(null, RedisUris.checked(uri), ReadFrom.UPSTREAM).leases(0);
  }

  /**
   * Keeps leases on the server, or Sentinels' primary, that a URI names, and grants and extends one
   * only when replicas have acknowledged it; see {@link dev.paddock.redis.RedisLeaseStore} for what
   * that promises. Each attempt takes up to half of a command time-out more.
   *
   * @param uri as for {@link #connect(String)}; no nodes of a cluster
   * @param replicas how many replicas have to acknowledge; at least 1
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed (the message holds no part of what may
   *     be user or password) or names nodes of a cluster, or the number is less than 1
   */
  public static LeaseStoreFactory leasesAcknowledgedBy(int replicas, String uri) {
    if (replicas < 1) {
      throw new IllegalArgumentException(
          "the number of replicas must be at least 1, is " + replicas);
    }
    if (RedisUriText.isList(uri)) {
      throw new IllegalArgumentException("leases on a Redis Cluster can't wait for replicas");
    }
    return new LettuceStoreFactory(null, RedisUris.parse(uri), ReadFrom.UPSTREAM).leases(replicas);
  }

  /**
   * Keeps leases with the application's own client, which is never shut down.
   *
   * @param client as for {@link #using(RedisClient, RedisURI)}
   * @param uri as for {@link #using(RedisClient, RedisURI)}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI names no host, or the client does not reconnect by
   *     itself
   */
  public static LeaseStoreFactory leasesUsing(RedisClient client, RedisURI uri) {
    requireNonNull(client, "client");
    requireReconnect(client.getOptions());
    return new LettuceStoreFactory(client, RedisUris.checked(uri), ReadFrom.UPSTREAM).leases(0);
  }

  /**
   * Keeps leases on a Redis Cluster with the application's own client, which is never shut down.
   *
   * @param client as for {@link #using(RedisClusterClient)}
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the client does not reconnect by itself
   */
  public static LeaseStoreFactory leasesUsing(RedisClusterClient client) {
    requireNonNull(client, "client");
    requireReconnect(client.getOptions());
    return new ClusterStoreFactory(client, List.of()).leases(0);
  }

  /**
   * Keeps leases on a majority of independent servers (Redlock).
   *
   * @param uri {@code redlock://user:password@host1:6379,host2:6379,host3:6379/0}, or {@code
   *     redlocks://} for TLS: user, password, database and parameters as for {@link
   *     #connect(String)}, the same for all servers
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if the URI is malformed, or names fewer than 3 servers; the
   *     message holds no part of what may be user or password
   */
  public static LettuceRedlock redlock(String uri) {
    return redlockOf(RedisUris.parseRedlock(uri));
  }

  /**
   * Keeps leases on a majority of independent servers (Redlock).
   *
   * @param uris one for each server, as for {@link #connect(String)}, without Sentinels or lists
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if a URI is malformed, or there are fewer than 3; the message
   *     holds no part of what may be user or password
   */
  public static LettuceRedlock redlock(Collection<String> uris) {
    return redlockOf(uris.stream().map(RedisUris::parse).toList());
  }

  /**
   * Keeps leases on a majority of independent servers (Redlock).
   *
   * @param uris one for each server, without Sentinels; time-outs are not taken from them
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   * @throws IllegalArgumentException if a URI names no host, or there are fewer than 3
   */
  public static LettuceRedlock redlock(List<RedisURI> uris) {
    return redlockOf(uris.stream().map(RedisUris::checked).toList());
  }

  private static LettuceRedlock redlockOf(List<RedisURI> uris) {
    if (uris.size() < REDLOCK_SERVERS_MIN) {
      throw new IllegalArgumentException(
          "Redlock takes 3 servers at least, an odd number of them at best, not " + uris.size());
    }
    if (uris.stream().anyMatch(RedisUris::hasSentinels)) {
      throw new IllegalArgumentException(
          "the servers of a Redlock are independent of each other: name them, not Sentinels");
    }
    return new LettuceRedlock(uris, RedlockLeaseStore.LEASE_TIME_MAX_DEFAULT);
  }
}
