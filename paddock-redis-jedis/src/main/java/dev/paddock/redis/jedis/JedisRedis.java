/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.util.Objects.requireNonNull;

import java.util.Collection;
import java.util.List;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;

/**
 * Stores in Redis (6.2 or later) or Valkey (7.2 or later), reached through Jedis: blocking sockets
 * for commands, and one more for push hints that is opened when somebody first waits.
 *
 * <p>A thread that calls {@link dev.paddock.Cache#get} reads the value over a socket itself,
 * without another thread in between. Everything else (asynchronous callers, loads, renewals) goes
 * through a few threads of the store's own.
 *
 * <p>The factories connect when {@link dev.paddock.Paddock.Builder#build()} opens them, and can be
 * opened more than once. They are thread-safe, and their {@code toString} shows no credentials.
 *
 * <p>While Redis is gone, commands that arrive within one command time-out of the loss try to
 * connect again; later ones fail at once, but for one at a time that tries. An interrupt of a
 * thread that reads itself is noticed after the reply, at the latest after the command time-out.
 */
public final class JedisRedis {
  private JedisRedis() {}

  /**
   * Makes connections of its own for each store, and closes them with it.
   *
   * @param uri {@code redis://user:password@host:6379/0}, or {@code rediss://} for TLS; special
   *     characters of user and password percent-encoded; with the parameters {@code clientName} and
   *     {@code verifyPeer} (FULL by default, CA or NONE). Several hosts, {@code
   *     redis://host1:6379,host2:6379}, are nodes of a cluster; one host may be one, too. {@code
   *     redis-sentinel://host1:26379,host2:26379/0#name} asks Sentinels for the primary of that
   *     name; user and password are the primary's then
   * @return a factory
   * @throws IllegalArgumentException if the URI is malformed; the message holds no part of what may
   *     be user or password
   */
  public static JedisStore connect(String uri) {
    return JedisStore.of(Target.parse(uri));
  }

  /**
   * Makes connections of its own for each store, with an application's settings, and closes them
   * with it.
   *
   * @param server the server, or a node of a cluster
   * @param config user, password or their provider, database, TLS and client name; its time-outs do
   *     not count ({@link dev.paddock.Paddock.Builder#connectTimeout} and {@link
   *     dev.paddock.Paddock.Builder#commandTimeout} do)
   * @return a factory
   */
  public static JedisStore connect(HostAndPort server, JedisClientConfig config) {
    requireNonNull(server, "server");
    requireNonNull(config, "config");
    return JedisStore.of(new Target(List.of(server), null, false, config, config));
  }

  /**
   * Makes connections of its own to the primary that Sentinels name, with an application's
   * settings, and closes them with the store.
   *
   * @param primary what the Sentinels call it
   * @param sentinels at least one of them
   * @param config as for {@link #connect(HostAndPort, JedisClientConfig)}
   * @param sentinelConfig the same for connecting to Sentinels
   * @return a factory
   * @throws IllegalArgumentException if there is no Sentinel, or no name
   */
  public static JedisStore connectSentinels(
      String primary,
      Collection<HostAndPort> sentinels,
      JedisClientConfig config,
      JedisClientConfig sentinelConfig) {
    requireNonNull(config, "config");
    requireNonNull(sentinelConfig, "sentinelConfig");
    if (primary.isEmpty() || sentinels.isEmpty()) {
      throw new IllegalArgumentException("name the primary and at least one Sentinel");
    }
    return JedisStore.of(
        new Target(List.copyOf(sentinels), primary, false, config, sentinelConfig));
  }

  /**
   * Makes connections of its own to the nodes of a cluster, with an application's settings, and
   * closes them with the store.
   *
   * @param nodes some of the nodes, from which the others are learned
   * @param config as for {@link #connect(HostAndPort, JedisClientConfig)}, without a database
   * @return a factory
   * @throws IllegalArgumentException if there is no node, or a database other than 0
   */
  public static JedisStore connectCluster(Collection<HostAndPort> nodes, JedisClientConfig config) {
    requireNonNull(config, "config");
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("no node of the cluster is named");
    }
    if (config.getDatabase() != 0) {
      throw new IllegalArgumentException("a cluster has only database 0");
    }
    return JedisStore.of(new Target(List.copyOf(nodes), null, true, config, config));
  }

  /**
   * Uses the connections of an application's own client, which is never closed; one of them is kept
   * for hints while somebody waits.
   *
   * @param client the client; while a connection of it is used here, the command time-out is that
   *     of Paddock
   * @return a factory
   */
  public static JedisStore using(RedisClient client) {
    return JedisStore.of(client);
  }
}
