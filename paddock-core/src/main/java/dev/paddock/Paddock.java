/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import dev.paddock.internal.Engine;
import dev.paddock.internal.Limits;
import dev.paddock.internal.SystemEnvironment;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import dev.paddock.spi.StoreProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the store and the caches that use it: one per application.
 *
 * <p>Thread-safe. {@link #close()} ends every wait with a {@link PaddockClosedException}, releases
 * the fill leases that this process holds, so that another goes on at once, and closes the
 * connections; an orderly end of the JVM (SIGTERM) does the same unless that was switched off.
 */
public final class Paddock implements AutoCloseable {
  private final Engine engine;

  private Paddock(Engine engine) {
    this.engine = engine;
  }

  /**
   * Connects to the store that a URI names, by the transport found on the class path.
   *
   * @param uri for example {@code redis://user:password@host:6379/0}, {@code rediss://} for TLS, or
   *     {@code redis-sentinel://user:password@host1:26379,host2:26379/0#name-of-the-primary}
   * @return a Paddock that is ready
   * @throws IllegalArgumentException if no transport on the class path accepts the URI, or several
   *     do, or it is malformed
   * @throws StoreException if the store can't be reached, refuses the credentials, or is of an
   *     unsupported version
   */
  public static Paddock connect(String uri) {
    return newBuilder().store(uri).build();
  }

  /**
   * Starts to make a Paddock with options.
   *
   * @return a builder
   */
  public static Builder newBuilder() {
    return new Builder();
  }

  /**
   * Starts to make a cache.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param name 1 to 100 characters, no {@code :} and no control characters; one cache of a name in
   *     a Paddock
   * @param codec turns values into bytes
   * @return a builder
   * @throws IllegalArgumentException if the name is malformed
   */
  public <K, V> CacheBuilder<K, V> cache(String name, Codec<V> codec) {
    requireNonNull(name, "name");
    requireNonNull(codec, "codec");
    if (name.isEmpty()
        || name.length() > 100
        || name.indexOf(':') >= 0
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "the name of a cache must have 1 to 100 characters, no ':' and no control characters, is \""
              + name
              + "\"");
    }
    KeyFormats.utf8(name);
    return new CacheBuilder<>(name, codec, engine::open);
  }

  /**
   * Closes the caches and the store, see above. Idempotent. Blocks until leases are given back and
   * connections closed, a second or two as a rule and never longer than two command time-outs and
   * five seconds; what is left then goes on in the background. Not to be called by a listener,
   * which would wait for itself that long.
   *
   * <p>Waits end with a {@link PaddockClosedException}. A caller whose thread is inside its own
   * loader still gets the value, which is not stored.
   */
  @Override
  public void close() {
    engine.close();
  }

  /**
   * As {@link #close()}, without blocking.
   *
   * @return completes when everything is closed
   */
  public CompletableFuture<@Nullable Void> closeAsync() {
    return engine.closeAsync();
  }

  /** Options of a {@link Paddock}. Not thread-safe. */
  public static final class Builder {
    private @Nullable StoreFactory store;
    private @Nullable Environment environment;
    private @Nullable Duration connectTimeout;
    private @Nullable Duration commandTimeout;
    private @Nullable Boolean shutdownHook;
    private @Nullable Integer maxConcurrentLoads;
    private @Nullable Integer maxQueuedLoads;
    private final List<PaddockListener> listeners = new ArrayList<>();

    private Builder() {}

    private static <T> T once(String option, @Nullable T before, T value) {
      if (before != null) {
        throw new IllegalStateException(option + " was set before; set it once");
      }
      return value;
    }

    /**
     * Sets the store by URI, see {@link Paddock#connect(String)}.
     *
     * @param uri the URI
     * @return this
     * @throws IllegalArgumentException if no transport on the class path accepts it, or several do:
     *     then name one of them with {@link #store(StoreFactory)}
     * @throws IllegalStateException if a store was set before
     */
    public Builder store(String uri) {
      requireNonNull(uri, "uri");
      StoreProvider chosen =
          Providers.only(
              ServiceLoader.load(StoreProvider.class), provider -> provider.accepts(uri), uri);
      if (chosen != null) {
        return store(chosen.factory(uri));
      }
      int scheme = uri.indexOf("://");
      throw new IllegalArgumentException(
          "no transport on the class path accepts "
              + (scheme < 0 ? "a URI without a scheme" : uri.substring(0, scheme) + "://")
              + ": add paddock-redis-lettuce or paddock-redis-jedis, and check that the URI begins with redis:// or"
              + " rediss://");
    }

    /**
     * Sets the store.
     *
     * @param factory opens it
     * @return this
     * @throws IllegalStateException if a store was set before
     */
    public Builder store(StoreFactory factory) {
      store = once("store", store, requireNonNull(factory, "factory"));
      return this;
    }

    /**
     * Sets clocks, timers, executor and randomness. By default the JVM's own, with an executor of
     * virtual threads where the JVM has them.
     *
     * @param surroundings the environment; closed with the Paddock
     * @return this
     * @throws IllegalStateException if it was set before
     */
    public Builder environment(Environment surroundings) {
      environment = once("environment", environment, requireNonNull(surroundings, "surroundings"));
      return this;
    }

    /**
     * Sets how long opening the store may take.
     *
     * @param duration 1 ms to 1 day; 10 seconds by default
     * @return this
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if it was set before
     */
    public Builder connectTimeout(Duration duration) {
      connectTimeout =
          once("connectTimeout", connectTimeout, Limits.span(duration, "connectTimeout"));
      return this;
    }

    /**
     * Sets how long one command may take, queueing and reconnecting included, before the engine
     * goes on without the store.
     *
     * @param duration 1 ms to 1 day; 1 second by default
     * @return this
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException if it was set before
     */
    public Builder commandTimeout(Duration duration) {
      commandTimeout =
          once("commandTimeout", commandTimeout, Limits.span(duration, "commandTimeout"));
      return this;
    }

    /**
     * Sets whether an orderly end of the JVM closes the Paddock.
     *
     * @param enabled true by default
     * @return this
     * @throws IllegalStateException if it was set before
     */
    public Builder closeOnShutdown(boolean enabled) {
      shutdownHook = once("closeOnShutdown", shutdownHook, enabled);
      return this;
    }

    /**
     * Sets how many loads run at once in this process, of all caches together. See {@link
     * CacheBuilder#maxConcurrentLoads} for what happens to the others.
     *
     * @param loads 1 or more; no limit by default
     * @return this
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if it was set before
     */
    public Builder maxConcurrentLoads(int loads) {
      maxConcurrentLoads =
          once(
              "maxConcurrentLoads",
              maxConcurrentLoads,
              Limits.atLeast(loads, 1, "maxConcurrentLoads"));
      return this;
    }

    /**
     * Sets how many loads of all caches together wait in line when as many run as may.
     *
     * @param loads 0 (none waits) or more; 10,000 by default
     * @return this
     * @throws IllegalArgumentException if it is negative
     * @throws IllegalStateException if it was set before
     */
    public Builder maxQueuedLoads(int loads) {
      maxQueuedLoads =
          once("maxQueuedLoads", maxQueuedLoads, Limits.atLeast(loads, 0, "maxQueuedLoads"));
      return this;
    }

    /**
     * Adds a listener.
     *
     * @param listener is told what happens in all caches
     * @return this
     */
    public Builder listener(PaddockListener listener) {
      listeners.add(requireNonNull(listener, "listener"));
      return this;
    }

    /**
     * Opens the store.
     *
     * @return a Paddock that is ready
     * @throws IllegalStateException if no store was set
     * @throws StoreException if the store can't be reached, refuses the credentials, or is of an
     *     unsupported version
     */
    public Paddock build() {
      if (store == null) {
        throw new IllegalStateException("no store was set: call store(\"redis://...\")");
      }
      StoreOptions options =
          new StoreOptions(
              connectTimeout == null ? Duration.ofSeconds(10) : connectTimeout,
              commandTimeout == null ? Duration.ofSeconds(1) : commandTimeout);
      Environment surroundings = environment == null ? SystemEnvironment.create() : environment;
      FillStore opened;
      try {
        opened = store.open(surroundings, options);
      } catch (RuntimeException e) {
        surroundings.close();
        throw e;
      }
      Engine engine =
          new Engine(
              surroundings,
              opened,
              options,
              maxConcurrentLoads == null ? Integer.MAX_VALUE : maxConcurrentLoads,
              maxQueuedLoads == null ? 10_000 : maxQueuedLoads,
              List.copyOf(listeners));
      if (shutdownHook == null || shutdownHook) {
        engine.closeOnShutdown();
      }
      return new Paddock(engine);
    }
  }
}
