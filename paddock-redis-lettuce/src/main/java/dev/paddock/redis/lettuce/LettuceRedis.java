/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.StoreFactory;
import io.lettuce.core.ClientOptions;
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
 */
public final class LettuceRedis {
  private LettuceRedis() {}

  /**
   * Uses the application's own client, with the client's own options. The client is never shut
   * down; only the connections made here are closed.
   *
   * @param client the client; auto-reconnect must be on
   * @param uri the server; database, user, password and TLS are taken from it, its time-out is not
   *     ({@link dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host or names Sentinels, or the client
   *     does not reconnect by itself: a connection that was lost once would then stay lost
   */
  public static StoreFactory using(RedisClient client, RedisURI uri) {
    requireNonNull(client, "client");
    requireReconnect(client.getOptions());
    return new LettuceStoreFactory(client, RedisUris.checked(uri));
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
   * Starts a client of its own for each store, and shuts it down with the store.
   *
   * @param uri the server; database, user, password and TLS are taken from it, its time-out is not
   *     ({@link dev.paddock.Paddock.Builder#connectTimeout} counts)
   * @return a factory
   * @throws IllegalArgumentException if the URI names no host or names Sentinels
   */
  public static StoreFactory connect(RedisURI uri) {
    return new LettuceStoreFactory(null, RedisUris.checked(uri));
  }

  /**
   * Starts a client of its own for each store, and shuts it down with the store.
   *
   * @param uri {@code redis://user:password@host:6379/0}, or {@code rediss://} for TLS. User,
   *     password, port and database may be left out ({@code :password@} is the default user).
   *     Special characters of user and password are percent-encoded. Parameters: {@code clientName}
   *     and {@code verifyPeer} ({@code FULL}, {@code CA} or {@code NONE}; {@code FULL} by default).
   *     Several hosts, {@code redis://host:6379,host:6379}, are nodes of a Redis Cluster, from
   *     which the others are learned; one host that turns out to be such a node will do as well
   * @return a factory
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static StoreFactory connect(String uri) {
    return RedisUris.isList(uri)
        ? new ClusterStoreFactory(null, RedisUris.parseAll(uri))
        : new LettuceStoreFactory(null, RedisUris.parse(uri));
  }
}
