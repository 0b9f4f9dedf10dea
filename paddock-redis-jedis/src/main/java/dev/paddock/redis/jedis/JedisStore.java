/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static java.util.Objects.requireNonNull;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.redis.RedisTransport;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.redis.internal.ServerVersion;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.util.Pool;

/**
 * Opens stores over Jedis, made by {@link JedisRedis}.
 *
 * <p>Immutable and thread-safe. As a factory it may open any number of stores, each with
 * connections and threads of its own. {@code toString} shows no credentials.
 *
 * @since 0.1.0
 */
public final class JedisStore implements StoreFactory {
  /** How many connections to each server a store makes at most, by default. */
  public static final int CONNECTIONS_MAX_DEFAULT = 64;

  /** How many threads of its own a store uses at most, by default. */
  public static final int THREADS_MAX_DEFAULT = 16;

  private final @Nullable Target target;
  private final @Nullable RedisClient client;
  private final int connectionsMax;
  private final int threadsMax;

  private JedisStore(
      @Nullable Target target, @Nullable RedisClient client, int connectionsMax, int threadsMax) {
    this.target = target;
    this.client = client;
    this.connectionsMax = connectionsMax;
    this.threadsMax = threadsMax;
  }

  static JedisStore of(Target target) {
    return new JedisStore(target, null, CONNECTIONS_MAX_DEFAULT, THREADS_MAX_DEFAULT);
  }

  static JedisStore of(RedisClient client) {
    return new JedisStore(
        null, requireNonNull(client, "client"), CONNECTIONS_MAX_DEFAULT, THREADS_MAX_DEFAULT);
  }

  /**
   * Limits the connections to each server, without the one for hints. Each blocking read that is
   * under way has one for itself; what finds none free waits for one. Has no effect on an
   * application's client, whose own limit counts.
   *
   * @param limit at least 1; {@value #CONNECTIONS_MAX_DEFAULT} by default
   * @return a copy
   * @throws IllegalArgumentException if the limit is less than 1
   */
  public JedisStore connectionsMax(int limit) {
    return new JedisStore(target, client, atLeastOne("connectionsMax", limit), threadsMax);
  }

  /**
   * Limits the threads of a store that block in the place of asynchronous callers, of loads and of
   * timers; what finds none free waits for one.
   *
   * @param limit at least 1; {@value #THREADS_MAX_DEFAULT} by default
   * @return a copy
   * @throws IllegalArgumentException if the limit is less than 1
   */
  public JedisStore threadsMax(int limit) {
    return new JedisStore(target, client, connectionsMax, atLeastOne("threadsMax", limit));
  }

  private static int atLeastOne(String option, int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException(option + " must be at least 1, is " + limit);
    }
    return limit;
  }

  /**
   * Keeps leases there instead of values.
   *
   * @return a factory for {@link dev.paddock.LeaseLock.Builder#store(LeaseStoreFactory)}
   */
  public LeaseStoreFactory leases() {
    return (environment, options) ->
        open(
            environment,
            options,
            (transport, surroundings, rest) ->
                RedisLeaseStore.open(transport, surroundings, rest, 0));
  }

  @Override
  public FillStore open(Environment environment, StoreOptions options) {
    return open(environment, options, RedisFillStore::open);
  }

  /** Puts a store on a transport. */
  @FunctionalInterface
  private interface Putting<S> {
    S on(RedisTransport transport, Environment environment, StoreOptions options);
  }

  private <S> S open(Environment environment, StoreOptions options, Putting<S> putting) {
    long start = environment.nanoTime();
    JedisTransport transport = transport(environment, options);
    long left = options.connectTimeout().toNanos() - (environment.nanoTime() - start);
    StoreOptions rest =
        new StoreOptions(
            Duration.ofNanos(Math.max(TimeUnit.MILLISECONDS.toNanos(1), left)),
            options.commandTimeout());
    try {
      return putting.on(transport, environment, rest);
    } catch (StoreException e) {
      transport.close();
      throw new StoreException(this + ": " + e.getMessage(), e, e.mayHaveHappened());
    } catch (RuntimeException | Error e) {
      transport.close();
      throw e;
    }
  }

  /** Connects and checks the version. */
  JedisTransport transport(Environment environment, StoreOptions options) {
    if (Thread.currentThread().isInterrupted()) {
      throw new PaddockInterruptedException("interrupted while opening the store", null);
    }
    Secrets secrets = target == null ? Secrets.unknown() : target.secrets();
    OpenFailures failures =
        new OpenFailures(
            target == null ? 0 : target.config().getDatabase(), toString(), secrets, options);
    Workers workers = new Workers(threadsMax);
    Opening opening = new Opening(environment, workers, options, secrets, connectionsMax);
    CompletableFuture<Routes> connecting = new CompletableFuture<>();
    // Not on this thread: a socket does not notice an interrupt, nor the end of the time.
    workers.run(
        () -> {
          try {
            Routes routes = routes(opening, failures);
            if (!connecting.complete(routes)) {
              routes.close();
            }
          } catch (RuntimeException | Error e) {
            connecting.completeExceptionally(e);
          }
        });
    try {
      Routes routes = connecting.get(options.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
      return new JedisTransport(environment, workers, routes, options.commandTimeout().toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      abandon(connecting, workers, e);
      throw new PaddockInterruptedException("interrupted while opening the store", e);
    } catch (ExecutionException e) {
      workers.close();
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw failures.explain(e.getCause() instanceof Exception cause ? cause : e);
    } catch (Exception e) {
      abandon(connecting, workers, e);
      throw failures.explain(e);
    }
  }

  /** What connects when nobody waits any more must not stay open. */
  private static void abandon(
      CompletableFuture<Routes> connecting, Workers workers, Exception why) {
    if (!connecting.completeExceptionally(why)) {
      CompletionStage<Routes> connected = connecting;
      connected.whenComplete(
          (routes, failed) -> {
            if (failed == null) {
              routes.close();
            }
          });
    }
    workers.close();
  }

  /** Connects. Blocks. */
  private Routes routes(Opening opening, OpenFailures failures) {
    if (client != null) {
      return shared(opening, client, failures);
    }
    Target to = requireNonNull(target);
    if (to.primary() != null) {
      return new SentinelRoutes(opening, to, failures);
    }
    if (to.cluster()) {
      return cluster(opening, to, failures);
    }
    HostAndPort host = to.hosts().get(0);
    About about;
    try (Connection probe = new OnceConnection(host, opening.patient(to.config(), 1))) {
      about = About.ask(probe);
    }
    checkVersion(about, failures);
    if (about.cluster()) {
      return cluster(opening, to, failures);
    }
    Node node = opening.node(host, to.config(), made -> {});
    return new OneServer(
        node,
        opening.hints(
            HintChannels.Kind.PLAIN,
            node.name(),
            () -> new OnceConnection(host, opening.timed(to.config()))));
  }

  private static Routes cluster(Opening opening, Target to, OpenFailures failures) {
    return new ClusterRoutes(
        opening,
        new ClusterRoutes.Access() {
          @Override
          public Node node(HostAndPort address) {
            return opening.node(address, to.config(), made -> {});
          }

          @Override
          public Connection connect(HostAndPort address) {
            return new OnceConnection(address, opening.timed(to.config()));
          }

          @Override
          public List<HostAndPort> seeds() {
            return to.hosts();
          }
        },
        to.description(),
        failures);
  }

  private static Routes shared(Opening opening, RedisClient client, OpenFailures failures) {
    Pool<Connection> pool = client.getPool();
    About about;
    try (Connection probe = pool.getResource()) {
      about = About.ask(probe);
    }
    checkVersion(about, failures);
    if (about.cluster()) {
      throw failures.cluster();
    }
    String name = "the application's RedisClient";
    Node node =
        Node.shared(
            opening.environment(),
            new HostAndPort("localhost", 0),
            name,
            pool,
            opening.commandMillis());
    return new OneServer(node, opening.hints(HintChannels.Kind.PLAIN, name, pool::getResource));
  }

  static void checkVersion(About about, OpenFailures failures) {
    ServerVersion version = about.version();
    if (version != null && !version.isSupported()) {
      throw failures.tooOld(version);
    }
  }

  @Override
  public String toString() {
    return target == null ? "the application's RedisClient" : target.description();
  }
}
