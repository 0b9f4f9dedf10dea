/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import dev.paddock.Paddock;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Paddock} on a store in memory: for unit tests of code that uses caches.
 *
 * <p>The store is an {@link InMemoryRedis}, which behaves as a server does, scripts included. On
 * real time everything works as in production, without a server. In virtual time nothing becomes
 * stale until the test advances the {@link #environment()}; a blocking call goes through {@link
 * #call}, an asynchronous one needs {@link VirtualEnvironment#run()} to get anywhere.
 *
 * <p>Thread-safe, as far as {@link VirtualEnvironment} is. Closing it closes all that it gave out.
 *
 * @since 0.1.0
 */
public final class InMemoryPaddock implements AutoCloseable {
  private static final Duration REAL_MAX = Duration.ofSeconds(30);
  private static final Duration VIRTUAL_MAX = Duration.ofMinutes(10);

  /** There is no network to give up on, and a build machine may stand still for a second. */
  private static final Duration REAL_COMMAND_MAX = Duration.ofSeconds(30);

  private final @Nullable VirtualEnvironment environment;
  private final Environment serverEnvironment;
  private final InMemoryRedis redis;
  private final AtomicInteger processes = new AtomicInteger();
  private final List<Paddock> opened = new CopyOnWriteArrayList<>();
  private final Paddock paddock;

  private InMemoryPaddock(Environment serverEnvironment) {
    this.environment = serverEnvironment instanceof VirtualEnvironment virtual ? virtual : null;
    this.serverEnvironment = serverEnvironment;
    this.redis = new InMemoryRedis(serverEnvironment);
    this.paddock = newProcess();
  }

  /**
   * Makes one on real time. Commands have 30 seconds, so that a slow machine fails no test.
   *
   * @return a Paddock with an empty store
   */
  public static InMemoryPaddock create() {
    return new InMemoryPaddock(RealTimeEnvironment.create());
  }

  /**
   * Makes one in virtual time.
   *
   * @param seed decides everything random
   * @return a Paddock with an empty store
   */
  public static InMemoryPaddock virtual(long seed) {
    return new InMemoryPaddock(new VirtualEnvironment(seed));
  }

  /**
   * Makes a factory that opens stores on a server in memory, each over a connection of its own.
   *
   * @param redis the server
   * @param client a name for the connections, see {@link InMemoryRedis#connect}
   * @return a factory for {@link Paddock.Builder#store(StoreFactory)}
   */
  public static StoreFactory storeOn(InMemoryRedis redis, String client) {
    requireNonNull(redis, "redis");
    requireNonNull(client, "client");
    return (environment, options) -> open(redis, client, environment, options);
  }

  private static FillStore open(
      InMemoryRedis redis, String client, Environment environment, StoreOptions options) {
    Environment clock =
        environment instanceof SkewedEnvironment skewed ? skewed.base() : environment;
    if (clock instanceof VirtualEnvironment virtual) {
      // Nobody else would run what opening waits for.
      return virtual.await(
          RedisFillStore.openAsync(redis.connect(client, environment), environment, options),
          options.connectTimeout());
    }
    return RedisFillStore.open(redis.connect(client, environment), environment, options);
  }

  /**
   * Returns the Paddock under test.
   *
   * @return always the same
   */
  public Paddock paddock() {
    return paddock;
  }

  /**
   * Opens one more Paddock on the same store, as another process of the fleet would.
   *
   * @return a Paddock, closed with this
   */
  public Paddock newProcess() {
    String client = "process-" + processes.incrementAndGet();
    Paddock.Builder builder =
        Paddock.newBuilder().store(storeOn(redis, client)).closeOnShutdown(false);
    Paddock another =
        environment == null
            ? builder.commandTimeout(REAL_COMMAND_MAX).build()
            : builder.environment(environment).build();
    opened.add(another);
    return another;
  }

  /**
   * Returns the server in memory: to look at its keys, or to make it fail.
   *
   * @return always the same
   */
  public InMemoryRedis redis() {
    return redis;
  }

  /**
   * Returns the environment, to let time go on.
   *
   * @return always the same
   * @throws IllegalStateException if this runs on real time
   */
  public VirtualEnvironment environment() {
    if (environment == null) {
      throw new IllegalStateException("this runs on real time; make one with virtual(seed)");
    }
    return environment;
  }

  /**
   * Makes a blocking call. In virtual time it runs on another thread while this one runs what the
   * call waits for; time stands still, so a call that waits for time to go on never returns.
   *
   * @param <T> the type of the result
   * @param body makes the call
   * @return its result
   * @throws Exception what it throws
   * @throws AssertionError if it has not returned after 30 seconds of real time
   */
  public <T extends @Nullable Object> T call(Callable<T> body) throws Exception {
    if (environment == null) {
      return body.call();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread caller =
        new Thread(
            () -> {
              try {
                result.complete(body.call());
              } catch (Throwable e) {
                result.completeExceptionally(e);
              }
            },
            "paddock-caller");
    caller.setDaemon(true);
    caller.start();
    environment.pumpUntil(result::isDone, REAL_MAX);
    try {
      return result.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Exception cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** Closes every Paddock that came from here. Idempotent. */
  @Override
  public void close() {
    for (Paddock each : opened) {
      if (environment == null) {
        each.close();
      } else {
        try {
          environment.await(each.closeAsync(), VIRTUAL_MAX);
        } catch (CompletionException e) {
          throw new IllegalStateException("closing failed", e.getCause());
        }
      }
    }
    redis.close();
    serverEnvironment.close();
  }
}
