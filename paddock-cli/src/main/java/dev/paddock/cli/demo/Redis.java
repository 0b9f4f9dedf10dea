/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import io.lettuce.core.sentinel.api.sync.RedisSentinelCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A connection of the demo's own, beside those of Paddock: for the recipes, and for looking after
 * things. To one server, to the primary that Sentinels name, or to a cluster. Thread-safe.
 */
final class Redis implements AutoCloseable {
  private static final Duration TOPOLOGY_PERIOD = Duration.ofSeconds(5);
  private static final Duration SHUTDOWN = Duration.ofSeconds(2);

  /** How the servers are arranged, as far as a URI and the first server tell. */
  enum Kind {
    /** One server; it may have replicas. */
    SERVER,
    /** A primary that Sentinels name. */
    SENTINEL,
    /** A Redis Cluster. */
    CLUSTER
  }

  private final Kind kind;
  private final AbstractRedisClient client;
  private final RedisURI uri;
  private final RedisClusterCommands<String, String> commands;

  private Redis(
      Kind kind,
      AbstractRedisClient client,
      RedisURI uri,
      RedisClusterCommands<String, String> commands) {
    this.kind = kind;
    this.client = client;
    this.uri = uri;
    this.commands = commands;
  }

  /**
   * Connects.
   *
   * @param text a URI in any form that Paddock takes
   * @return the connection
   * @throws io.lettuce.core.RedisException if that fails
   */
  static Redis connect(String text) {
    List<RedisURI> uris = RedisAddress.parse(text);
    if (uris.size() > 1) {
      return connectToCluster(uris);
    }
    RedisURI uri = uris.get(0);
    RedisClient client = RedisClient.create(uri);
    try {
      StatefulRedisConnection<String, String> connection = client.connect();
      if (!uri.getSentinels().isEmpty()) {
        return new Redis(Kind.SENTINEL, client, uri, connection.sync());
      }
      if (!info(connection.sync()).contains("_mode:cluster")) {
        return new Redis(Kind.SERVER, client, uri, connection.sync());
      }
    } catch (RuntimeException e) {
      shutDown(client);
      throw e;
    }
    shutDown(client);
    return connectToCluster(uris);
  }

  private static Redis connectToCluster(List<RedisURI> nodes) {
    RedisClusterClient client = RedisClusterClient.create(nodes);
    try {
      client.setOptions(
          ClusterClientOptions.builder()
              .topologyRefreshOptions(
                  ClusterTopologyRefreshOptions.builder()
                      .enableAllAdaptiveRefreshTriggers()
                      .enablePeriodicRefresh(TOPOLOGY_PERIOD)
                      .build())
              .build());
      return new Redis(Kind.CLUSTER, client, nodes.get(0), client.connect().sync());
    } catch (RuntimeException e) {
      shutDown(client);
      throw e;
    }
  }

  private static String info(RedisClusterCommands<String, String> commands) {
    try {
      return commands.info("server");
    } catch (RedisCommandExecutionException e) {
      // The user has no right to INFO, which Paddock does without, too.
      return "";
    }
  }

  RedisClusterCommands<String, String> commands() {
    return commands;
  }

  Kind kind() {
    return kind;
  }

  /**
   * Asks for the version.
   *
   * @return the version, or words that say that it is unknown
   */
  String version() {
    return info(commands)
        .lines()
        .filter(line -> line.startsWith("redis_version:"))
        .map(line -> line.substring("redis_version:".length()).strip())
        .findFirst()
        .orElse("of a version that it does not tell");
  }

  /**
   * Finds the servers that take commands now.
   *
   * @param withReplicas whether those that may take their place are wanted, too; a single server's
   *     replicas never take its place
   * @return where they are, with what it takes to connect
   * @throws io.lettuce.core.RedisException if they can't be found
   */
  List<RedisURI> servers(boolean withReplicas) {
    return switch (kind) {
      case SERVER -> List.of(uri);
      case SENTINEL -> serversOfSentinels(withReplicas);
      case CLUSTER -> nodes(withReplicas);
    };
  }

  private List<RedisURI> serversOfSentinels(boolean withReplicas) {
    try (StatefulRedisSentinelConnection<String, String> connection =
        ((RedisClient) client).connectSentinel(uri)) {
      RedisSentinelCommands<String, String> sentinel = connection.sync();
      String name = uri.getSentinelMasterId();
      List<Map<String, String>> found = new ArrayList<>();
      found.add(sentinel.master(name));
      if (withReplicas) {
        found.addAll(sentinel.replicas(name));
      }
      return found.stream()
          .map(
              each ->
                  RedisURI.builder()
                      .withHost(String.valueOf(each.get("ip")))
                      .withPort(Integer.parseInt(String.valueOf(each.get("port"))))
                      .withSsl(uri)
                      .withAuthentication(uri)
                      .build())
          .toList();
    }
  }

  private List<RedisURI> nodes(boolean withReplicas) {
    RedisClusterClient cluster = (RedisClusterClient) client;
    cluster.refreshPartitions();
    return cluster.getPartitions().stream()
        .filter(node -> withReplicas || !node.getSlots().isEmpty())
        .map(RedisClusterNode::getUri)
        .toList();
  }

  private static void shutDown(AbstractRedisClient client) {
    client.shutdown(Duration.ZERO, SHUTDOWN);
  }

  @Override
  public void close() {
    shutDown(client);
  }
}
