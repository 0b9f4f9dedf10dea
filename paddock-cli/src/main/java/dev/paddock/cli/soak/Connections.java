/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.paddock.LeaseListener;
import dev.paddock.LeaseLock;
import dev.paddock.Paddock;
import dev.paddock.PaddockListener;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DnsResolver;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What a worker reaches the servers by: Paddock's own clients; or, where the worker has links of
 * its own that can be cut, clients that take the links, as an application's clients would be used.
 */
final class Connections implements AutoCloseable {
  /** All processes start at once, on a machine that may have few cores. */
  private static final Duration CONNECT_MAX = Duration.ofSeconds(30);

  private static final Duration TOPOLOGY_PERIOD = Duration.ofSeconds(2);

  private final Told.Hello hello;
  private final @Nullable ClientResources resources;
  private final @Nullable AbstractRedisClient client;

  Connections(Told.Hello hello) {
    this.hello = hello;
    beQuiet();
    if (hello.links().isEmpty()) {
      resources = null;
      client = null;
      return;
    }
    ClientResources shared =
        ClientResources.builder()
            .socketAddressResolver(
                MappingSocketAddressResolver.create(
                    DnsResolver.unresolved(), address -> link(address, hello.links())))
            .build();
    resources = shared;
    client = hello.topology() == Topology.CLUSTER ? cluster(shared, hello.uris()) : one(shared);
  }

  /** That connections are lost is the purpose, and is told in other ways. */
  static void beQuiet() {
    if (LoggerFactory.getLogger("io.lettuce") instanceof Logger logger) {
      logger.setLevel(Level.OFF);
    }
  }

  private static HostAndPort link(HostAndPort address, Map<Integer, Integer> links) {
    Integer port = links.get(address.getPort());
    return port == null ? address : HostAndPort.of("127.0.0.1", port);
  }

  private static RedisClient one(ClientResources resources) {
    RedisClient client = RedisClient.create(resources);
    client.setOptions(
        ClientOptions.builder()
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .build());
    return client;
  }

  private static RedisClusterClient cluster(ClientResources resources, List<String> uris) {
    List<RedisURI> nodes =
        uris.stream()
            .flatMap(uri -> Arrays.stream(uri.replace("redis://", "").split(",", -1)))
            .map(node -> RedisURI.create("redis://" + node))
            .toList();
    RedisClusterClient client = RedisClusterClient.create(resources, nodes);
    client.setOptions(
        ClusterClientOptions.builder()
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .topologyRefreshOptions(
                ClusterTopologyRefreshOptions.builder()
                    .enablePeriodicRefresh(TOPOLOGY_PERIOD)
                    .build())
            .build());
    return client;
  }

  Paddock paddock(PaddockListener listener) {
    Paddock.Builder builder = Paddock.newBuilder();
    if (client instanceof RedisClusterClient cluster) {
      builder.store(LettuceRedis.using(cluster));
    } else if (client instanceof RedisClient one) {
      builder.store(LettuceRedis.using(one, RedisURI.create(hello.uris().get(0))));
    } else {
      builder.store(hello.uris().get(0));
    }
    return builder
        .connectTimeout(CONNECT_MAX)
        .commandTimeout(Terms.COMMAND_TIMEOUT)
        .listener(listener)
        .build();
  }

  LeaseLock leases(LeaseListener listener) {
    LeaseLock.Builder builder = LeaseLock.newBuilder();
    if (hello.topology() == Topology.REDLOCK) {
      builder.store(LettuceRedis.redlock(hello.uris()).longestLease(Terms.LONGEST_LEASE));
    } else if (client instanceof RedisClusterClient cluster) {
      builder.store(LettuceRedis.leasesUsing(cluster));
    } else if (client instanceof RedisClient one) {
      builder.store(LettuceRedis.leasesUsing(one, RedisURI.create(hello.uris().get(0))));
    } else {
      builder.store(LettuceRedis.leases(hello.uris().get(0)));
    }
    return builder
        .connectTimeout(CONNECT_MAX)
        .commandTimeout(Terms.COMMAND_TIMEOUT)
        .listener(listener)
        .build();
  }

  @Override
  public void close() {
    if (client != null) {
      client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
    if (resources != null) {
      var unused = resources.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }
}
