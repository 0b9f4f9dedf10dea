/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.redis.internal.ServerVersion;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.masterreplica.MasterReplica;
import io.lettuce.core.masterreplica.StatefulRedisMasterReplicaConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Connects, checks the version, and puts a store on the connection. */
final class LettuceStoreFactory implements StoreFactory {
  private static final long ONE_MILLI_IN_NANOS = 1_000_000;

  private final @Nullable RedisClient applicationClient;
  private final RedisURI uri;
  private final ReadFrom readFrom;

  /**
   * Makes a factory.
   *
   * @param applicationClient the client to use, or null for one of our own
   * @param uri a copy that nobody else changes
   * @param readFrom where values are read
   */
  LettuceStoreFactory(@Nullable RedisClient applicationClient, RedisURI uri, ReadFrom readFrom) {
    this.applicationClient = applicationClient;
    this.uri = uri;
    this.readFrom = readFrom;
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

  private <S> S open(Environment environment, StoreOptions options, Putting<S> putting) {
    long start = environment.nanoTime();
    LettuceTransport transport;
    try {
      transport = transport(environment, options);
    } catch (ClusterFound e) {
      return new ClusterStoreFactory(null, List.of(uri))
          .open(environment, rest(environment, start, options), putting);
    }
    return open(
        transport,
        "Redis at " + RedisUris.address(uri),
        environment,
        rest(environment, start, options),
        putting);
  }

  /** Puts a store on a transport. */
  @FunctionalInterface
  interface Putting<S> {
    S on(RedisTransport transport, Environment environment, StoreOptions options);
  }

  /** What is left of the connect time-out. */
  static StoreOptions rest(Environment environment, long start, StoreOptions options) {
    long left = options.connectTimeout().toNanos() - (environment.nanoTime() - start);
    return new StoreOptions(
        Duration.ofNanos(Math.max(ONE_MILLI_IN_NANOS, left)), options.commandTimeout());
  }

  /** Puts a store on a transport, and closes the transport if that fails. */
  static <S> S open(
      RedisTransport transport,
      String server,
      Environment environment,
      StoreOptions rest,
      Putting<S> putting) {
    try {
      return putting.on(transport, environment, rest);
    } catch (StoreException e) {
      transport.close();
      throw new StoreException(server + ": " + e.getMessage(), e, e.mayHaveHappened());
    } catch (RuntimeException | Error e) {
      transport.close();
      throw e;
    }
  }

  /** Connects and checks the version. */
  LettuceTransport transport(Environment environment, StoreOptions options) {
    // Starting a client takes the flag away from a thread that was interrupted before.
    if (Thread.currentThread().isInterrupted()) {
      throw new PaddockInterruptedException("interrupted while opening the store", null);
    }
    long deadline = environment.nanoTime() + options.connectTimeout().toNanos();
    Duration step = RedisUris.step(uri, options.connectTimeout());
    RedisURI target = RedisUris.copy(uri, step);
    Secrets secrets = RedisUris.secrets(target);
    OpenFailures failures = new OpenFailures(target, secrets, options);
    OwnedClient owned =
        applicationClient == null ? new OwnedClient(environment, step, options) : null;
    RedisClient client = owned == null ? applicationClient : owned.client();
    if (client == null) {
      throw new IllegalStateException("no client");
    }
    LettuceTransport transport;
    try {
      ConnectionFuture<StatefulRedisConnection<byte[], byte[]>> connecting =
          client.connectAsync(ByteArrayCodec.INSTANCE, target);
      transport =
          new LettuceTransport(
              client,
              owned,
              target,
              secrets,
              connected(connecting, environment, deadline),
              connecting.getRemoteAddress(),
              environment,
              options);
    } catch (Exception e) {
      if (owned != null) {
        owned.shutdown();
      }
      throw failures.explain(e);
    }
    About server;
    try {
      server = about(transport::info, transport::hello, environment, deadline);
      ServerVersion version = server.version();
      if (version != null && !version.isSupported()) {
        throw failures.tooOld(version);
      }
      if (server.cluster() && applicationClient != null) {
        throw failures.cluster();
      }
      if (server.cluster() && readFrom != ReadFrom.UPSTREAM) {
        throw failures.clusterReadElsewhere();
      }
      if (!server.cluster()) {
        readValuesElsewhere(transport, client, target, environment, options, deadline);
      }
    } catch (Exception e) {
      transport.close();
      throw failures.explain(e);
    }
    if (server.cluster()) {
      transport.close();
      throw new ClusterFound();
    }
    return transport;
  }

  /** The server is a node of a cluster, which takes a client of another kind. */
  private static final class ClusterFound extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ClusterFound() {
      super("a node of a cluster", null, false, false);
    }
  }

  /**
   * What a server says of itself.
   *
   * @param version null if it does not say
   */
  record About(@Nullable ServerVersion version, boolean cluster) {}

  @SuppressWarnings("ReferenceEquality") // Lettuce's constants
  private void readValuesElsewhere(
      LettuceTransport transport,
      RedisClient client,
      RedisURI target,
      Environment environment,
      StoreOptions options,
      long deadline)
      throws Exception {
    if (readFrom == ReadFrom.UPSTREAM) {
      return;
    }
    CompletionStage<StatefulRedisMasterReplicaConnection<byte[], byte[]>> connecting =
        MasterReplica.connectAsync(client, ByteArrayCodec.INSTANCE, target);
    StatefulRedisMasterReplicaConnection<byte[], byte[]> connection =
        connected(connecting, environment, deadline);
    connection.setReadFrom(readFrom);
    transport.readFrom(connection, options.commandTimeout().dividedBy(2).toNanos());
  }

  private static <C extends StatefulConnection<byte[], byte[]>> C connected(
      CompletionStage<C> connecting, Environment environment, long deadline) throws Exception {
    try {
      return requireNonNull(await(connecting, environment, deadline));
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

  /**
   * Asks for version and mode, by INFO or, for a user who may not, by HELLO. Who may do neither
   * uses the server at their own risk.
   */
  static About about(
      Supplier<CompletionStage<byte[]>> info,
      Supplier<CompletionStage<List<Object>>> hello,
      Environment environment,
      long deadline)
      throws Exception {
    try {
      byte[] reply = await(info.get(), environment, deadline);
      String text = reply == null ? "" : new String(reply, StandardCharsets.UTF_8);
      ServerVersion version = ServerVersion.inInfo(text);
      if (version != null) {
        // redis_mode, or server_mode as Valkey has it.
        return new About(version, text.contains("_mode:cluster"));
      }
    } catch (RedisReplyException e) {
      // No right to INFO.
    }
    try {
      List<Object> reply = await(hello.get(), environment, deadline);
      String version = inHello(reply, "version");
      return new About(
          version == null ? null : ServerVersion.parse(version),
          "cluster".equals(inHello(reply, "mode")));
    } catch (RedisReplyException e) {
      return new About(null, false);
    }
  }

  private static @Nullable String inHello(@Nullable List<?> reply, String name) {
    if (reply == null) {
      return null;
    }
    for (int i = 0; i < reply.size(); i++) {
      if (reply.get(i) instanceof List<?> nested) {
        String value = inHello(nested, name);
        if (value != null) {
          return value;
        }
      }
      if (i + 1 < reply.size() && text(reply.get(i)).equals(name)) {
        return text(reply.get(i + 1));
      }
    }
    return null;
  }

  private static String text(@Nullable Object element) {
    return element instanceof byte[] bytes
        ? new String(bytes, StandardCharsets.UTF_8)
        : String.valueOf(element);
  }

  /** Waits until the deadline. Throws what the stage failed with, and TimeoutException. */
  static <T> @Nullable T await(CompletionStage<T> stage, Environment environment, long deadline)
      throws Exception {
    CompletableFuture<T> future = stage.toCompletableFuture();
    try {
      return future.get(Math.max(0, deadline - environment.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PaddockInterruptedException("interrupted while opening the store", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      throw e;
    }
  }
}
