/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SocketOptions.TcpUserTimeoutOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.EpollProvider;
import io.lettuce.core.resource.IOUringProvider;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * A Lettuce client and its threads, started for one store.
 *
 * <p>The choices: reconnect for ever, at most a second apart ({@link ReconnectDelay}); accept
 * commands while disconnected, since {@link Link} lets none through then but those that were on
 * their way already; no queue bound and no command time-outs of Lettuce's, since {@code Link}
 * bounds and the engine has a deadline for each command (a second timer for each would be waste);
 * notice a dead peer within half a minute when idle (keep-alive) and sooner when not ({@link
 * ConnectionGuard}). What several threads send while the connection's thread is at work goes to the
 * socket in one piece, at the end of that work; alone a command goes at once. The protocol is RESP3
 * where the server knows it, else RESP2. The topology of a cluster is read every half minute;
 * {@link Topology} has it read at signs of a change, too.
 */
final class OwnedClient implements NettyCustomizer {
  /** Two connections are never busier than two threads. */
  private static final int THREADS = 2;

  private static final Duration TOPOLOGY_PERIOD = Duration.ofSeconds(30);
  private static final Duration KEEP_ALIVE_IDLE = Duration.ofSeconds(15);
  private static final Duration KEEP_ALIVE_INTERVAL = Duration.ofSeconds(5);
  private static final int KEEP_ALIVE_PROBES = 3;
  private static final int SILENT_COMMANDS = 5;

  /** So many commands are written at the latest, however many more are waiting to be. */
  private static final int WRITTEN_TOGETHER = 256;

  private static final Duration SILENCE_MIN = Duration.ofSeconds(5);
  private static final long SHUTDOWN_SECONDS = 2;

  private final Environment environment;
  private final long silenceNanos;
  private final Set<Channel> channels = ConcurrentHashMap.newKeySet();
  private final ClientResources resources;
  private final AbstractRedisClient client;

  /**
   * Starts a client of one server, or of Sentinels.
   *
   * @param connectTimeout how long connecting to one address may take
   * @param options the store's time-outs
   */
  OwnedClient(Environment environment, Duration connectTimeout, StoreOptions options) {
    this(environment, connectTimeout, options, List.of());
  }

  /**
   * Starts a client.
   *
   * @param connectTimeout how long connecting to one address may take
   * @param options the store's time-outs
   * @param seeds nodes of a cluster, or empty for another client
   */
  OwnedClient(
      Environment environment,
      Duration connectTimeout,
      StoreOptions options,
      List<RedisURI> seeds) {
    this.environment = environment;
    Duration silence = options.commandTimeout().multipliedBy(SILENT_COMMANDS);
    silenceNanos = (silence.compareTo(SILENCE_MIN) < 0 ? SILENCE_MIN : silence).toNanos();
    ReconnectDelay delay = new ReconnectDelay(environment);
    resources =
        ClientResources.builder()
            .ioThreadPoolSize(THREADS)
            .computationThreadPoolSize(THREADS)
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .reconnectDelay(delay)
            .nettyCustomizer(this)
            .build();
    if (seeds.isEmpty()) {
      RedisClient one = RedisClient.create(resources);
      one.setOptions(configured(ClientOptions.builder(), connectTimeout).build());
      client = one;
    } else {
      RedisClusterClient cluster = RedisClusterClient.create(resources, seeds);
      ClusterClientOptions.Builder builder = ClusterClientOptions.builder();
      configured(builder, connectTimeout);
      cluster.setOptions(
          builder
              .topologyRefreshOptions(
                  ClusterTopologyRefreshOptions.builder()
                      .enablePeriodicRefresh(TOPOLOGY_PERIOD)
                      .build())
              .build());
      client = cluster;
    }
  }

  private static ClientOptions.Builder configured(
      ClientOptions.Builder builder, Duration connectTimeout) {
    return builder
        .autoReconnect(true)
        .disconnectedBehavior(DisconnectedBehavior.ACCEPT_COMMANDS)
        .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
        .socketOptions(socketOptions(connectTimeout));
  }

  private static SocketOptions socketOptions(Duration connectTimeout) {
    SocketOptions.Builder socket =
        SocketOptions.builder()
            .connectTimeout(connectTimeout)
            .tcpNoDelay(true)
            .keepAlive(
                KeepAliveOptions.builder()
                    .enable(true)
                    .idle(KEEP_ALIVE_IDLE)
                    .interval(KEEP_ALIVE_INTERVAL)
                    .count(KEEP_ALIVE_PROBES)
                    .build());
    // Lettuce warns in the log when it is asked for the option and has no transport that knows it.
    if (EpollProvider.isAvailable() || IOUringProvider.isAvailable()) {
      Duration dead = KEEP_ALIVE_IDLE.plus(KEEP_ALIVE_INTERVAL.multipliedBy(KEEP_ALIVE_PROBES));
      socket.tcpUserTimeout(
          TcpUserTimeoutOptions.builder().enable(true).tcpUserTimeout(dead).build());
    }
    return socket.build();
  }

  RedisClient client() {
    return (RedisClient) client;
  }

  RedisClusterClient clusterClient() {
    return (RedisClusterClient) client;
  }

  @Override
  public void afterChannelInitialized(Channel channel) {
    channels.add(channel);
    Future<?> unused = channel.closeFuture().addListener(closed -> channels.remove(channel));
    channel.pipeline().addFirst(new ConnectionGuard(environment, silenceNanos));
    channel.pipeline().addFirst(new FlushConsolidationHandler(WRITTEN_TOGETHER, true));
  }

  /** Closes all connections, so that new ones are made, to where the host's name points by then. */
  void reconnect() {
    for (Channel channel : channels) {
      Future<?> unused = channel.close();
    }
  }

  /** Closes the connections to an address, so that they are made anew to where the primary is. */
  void leave(SocketAddress address) {
    for (Channel channel : channels) {
      if (address.equals(channel.remoteAddress())) {
        Future<?> unused = channel.close();
      }
    }
  }

  /** Closes connections and ends threads, without blocking. Never completes exceptionally. */
  CompletionStage<Void> shutdown() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    CompletionStage<Void> closing = client.shutdownAsync(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    closing.whenComplete((nothing, failed) -> endThreads(done));
    return done;
  }

  private void endThreads(CompletableFuture<Void> done) {
    Future<?> unused =
        resources
            .shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS)
            .addListener(ended -> done.complete(null));
  }
}
