/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Connects, checks the version, and puts a store on the connection. */
final class LettuceStoreFactory implements StoreFactory {
  private static final long ONE_MILLI_IN_NANOS = 1_000_000;

  private final @Nullable RedisClient applicationClient;
  private final RedisURI uri;

  /**
   * Makes a factory.
   *
   * @param applicationClient the client to use, or null for one of our own
   * @param uri a copy that nobody else changes
   */
  LettuceStoreFactory(@Nullable RedisClient applicationClient, RedisURI uri) {
    this.applicationClient = applicationClient;
    this.uri = uri;
  }

  @Override
  public FillStore open(Environment environment, StoreOptions options) {
    long start = environment.nanoTime();
    LettuceTransport transport = transport(environment, options);
    long left = options.connectTimeout().toNanos() - (environment.nanoTime() - start);
    StoreOptions rest =
        new StoreOptions(
            Duration.ofNanos(Math.max(ONE_MILLI_IN_NANOS, left)), options.commandTimeout());
    try {
      return RedisFillStore.open(transport, environment, rest);
    } catch (StoreException e) {
      transport.close();
      throw new StoreException(
          "Redis at " + RedisUris.address(uri) + ": " + e.getMessage(), e, e.mayHaveHappened());
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
    RedisURI target = RedisUris.copy(uri, options.connectTimeout());
    Secrets secrets = Secrets.of(target);
    OpenFailures failures = new OpenFailures(target, secrets, options);
    OwnedClient owned = applicationClient == null ? new OwnedClient(environment, options) : null;
    RedisClient client = owned == null ? applicationClient : owned.client();
    if (client == null) {
      throw new IllegalStateException("no client");
    }
    LettuceTransport transport;
    try {
      transport =
          new LettuceTransport(
              client,
              owned,
              target,
              secrets,
              connect(client, target, environment, deadline),
              environment,
              options);
    } catch (Exception e) {
      if (owned != null) {
        owned.shutdown();
      }
      throw failures.explain(e);
    }
    try {
      ServerVersion version = version(transport, environment, deadline);
      if (version != null && !version.isSupported()) {
        throw failures.tooOld(version);
      }
      return transport;
    } catch (Exception e) {
      transport.close();
      throw failures.explain(e);
    }
  }

  private static StatefulRedisConnection<byte[], byte[]> connect(
      RedisClient client, RedisURI target, Environment environment, long deadline)
      throws Exception {
    CompletionStage<StatefulRedisConnection<byte[], byte[]>> connecting =
        client.connectAsync(ByteArrayCodec.INSTANCE, target);
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
   * Asks for the version, by INFO or, for a user who may not, by HELLO. Who may do neither uses the
   * server at their own risk.
   */
  private static @Nullable ServerVersion version(
      LettuceTransport transport, Environment environment, long deadline) throws Exception {
    try {
      byte[] info = await(transport.info(), environment, deadline);
      ServerVersion version =
          info == null ? null : ServerVersion.inInfo(new String(info, StandardCharsets.UTF_8));
      if (version != null) {
        return version;
      }
    } catch (RedisReplyException e) {
      // No right to INFO.
    }
    try {
      return inHello(await(transport.hello(), environment, deadline));
    } catch (RedisReplyException e) {
      return null;
    }
  }

  private static @Nullable ServerVersion inHello(@Nullable List<?> reply) {
    if (reply == null) {
      return null;
    }
    for (int i = 0; i < reply.size(); i++) {
      if (reply.get(i) instanceof List<?> nested) {
        ServerVersion version = inHello(nested);
        if (version != null) {
          return version;
        }
      }
      if (i + 1 < reply.size() && text(reply.get(i)).equals("version")) {
        return ServerVersion.parse(text(reply.get(i + 1)));
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
  private static <T> @Nullable T await(
      CompletionStage<T> stage, Environment environment, long deadline) throws Exception {
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
