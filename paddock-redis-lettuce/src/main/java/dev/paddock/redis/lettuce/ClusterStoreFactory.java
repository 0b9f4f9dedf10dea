/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.redis.internal.ServerVersion;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Connects to a cluster, checks the version, and puts a store on it. */
final class ClusterStoreFactory implements StoreFactory {
  private static final byte[] ANY_KEY = {};

  /** From here on hints go through the shard of the key alone. */
  private static final int SHARDED_SINCE = 7;

  /**
   * The time-out of the handshake with a node, and of reading the topology, in command time-outs. A
   * node that does not answer must not hold up the news that it was replaced.
   */
  private static final int NODE_TIMEOUTS = 2;

  private static final Duration NODE_TIMEOUT_MIN = Duration.ofSeconds(1);

  private final @Nullable RedisClusterClient applicationClient;
  private final List<RedisURI> seeds;

  /**
   * Makes a factory.
   *
   * @param applicationClient the client to use, or null for one of our own
   * @param seeds copies that nobody else changes; not used with an application's client
   */
  ClusterStoreFactory(@Nullable RedisClusterClient applicationClient, List<RedisURI> seeds) {
    this.applicationClient = applicationClient;
    this.seeds = seeds;
  }

  private String server() {
    return seeds.isEmpty()
        ? "the Redis Cluster of the application's client"
        : seeds.stream()
            .map(RedisUris::address)
            .collect(Collectors.joining(",", "the Redis Cluster at ", ""));
  }

  @Override
  public FillStore open(Environment environment, StoreOptions options) {
    return open(environment, options, RedisFillStore::open);
  }

  /** Opens stores of leases instead of values, which so many replicas have to acknowledge. */
  LeaseStoreFactory leases(int replicas) {
    return (environment, options) ->
        open(
            environment,
            options,
            (transport, surroundings, rest) ->
                RedisLeaseStore.open(transport, surroundings, rest, replicas));
  }

  <S> S open(
      Environment environment, StoreOptions options, LettuceStoreFactory.Putting<S> putting) {
    long start = environment.nanoTime();
    ClusterTransport transport = transport(environment, options);
    return LettuceStoreFactory.open(
        transport,
        server(),
        environment,
        LettuceStoreFactory.rest(environment, start, options),
        putting);
  }

  /** Connects and checks the version. */
  ClusterTransport transport(Environment environment, StoreOptions options) {
    // Starting a client takes the flag away from a thread that was interrupted before.
    if (Thread.currentThread().isInterrupted()) {
      throw new PaddockInterruptedException("interrupted while opening the store", null);
    }
    long deadline = environment.nanoTime() + options.connectTimeout().toNanos();
    Secrets secrets = seeds.isEmpty() ? Secrets.unknown() : RedisUris.secrets(seeds.get(0));
    OpenFailures failures = new OpenFailures(0, server(), secrets, options);
    OwnedClient owned = applicationClient == null ? owned(environment, options) : null;
    RedisClusterClient client =
        requireNonNull(owned == null ? applicationClient : owned.clusterClient());
    ClusterTransport transport;
    try {
      transport =
          new ClusterTransport(
              client,
              owned,
              server(),
              secrets,
              connect(client, environment, deadline),
              environment,
              options);
    } catch (Exception e) {
      if (owned != null) {
        owned.shutdown();
      }
      throw failures.explain(e);
    }
    try {
      ServerVersion version =
          LettuceStoreFactory.about(
                  () -> transport.info(ANY_KEY),
                  () -> transport.hello(ANY_KEY),
                  environment,
                  deadline)
              .version();
      if (version != null && !version.isSupported()) {
        throw failures.tooOld(version);
      }
      transport.hints().sharded(version != null && version.major() >= SHARDED_SINCE);
      return transport;
    } catch (Exception e) {
      transport.close();
      throw failures.explain(e);
    }
  }

  private OwnedClient owned(Environment environment, StoreOptions options) {
    Duration node = options.commandTimeout().multipliedBy(NODE_TIMEOUTS);
    node = node.compareTo(NODE_TIMEOUT_MIN) < 0 ? NODE_TIMEOUT_MIN : node;
    Duration timeout =
        node.compareTo(options.connectTimeout()) < 0 ? node : options.connectTimeout();
    List<RedisURI> targets =
        seeds.stream().map(uri -> RedisUris.copy(uri, timeout)).collect(Collectors.toList());
    return new OwnedClient(environment, timeout, options, targets);
  }

  private static StatefulRedisClusterConnection<byte[], byte[]> connect(
      RedisClusterClient client, Environment environment, long deadline) throws Exception {
    // Reads the topology first: connecting without one is an error.
    CompletionStage<StatefulRedisClusterConnection<byte[], byte[]>> connecting =
        client
            .refreshPartitionsAsync()
            .thenCompose(nothing -> client.connectAsync(ByteArrayCodec.INSTANCE));
    try {
      return requireNonNull(LettuceStoreFactory.await(connecting, environment, deadline));
    } catch (Exception e) {
      // A connection that comes when nobody waits any more must not stay open.
      connecting.whenComplete(
          (late, failed) -> {
            if (late != null) {
              CompletableFuture<?> unused = late.closeAsync();
            }
          });
      throw e;
    }
  }
}
