/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.Cache;
import dev.paddock.CacheConfiguration;
import dev.paddock.CacheEvent;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockListener;
import dev.paddock.spi.Environment;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreOptions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What the caches of one Paddock share: the store, the environment, and the flights under way. */
public final class Engine {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private static final long CLOSE_MILLIS = 5_000;

  private final Environment env;
  private final Gateway gateway;
  private final Deadlines deadlines;
  private final Breaker breaker;
  private final LoadGate gate;
  private final Events<CacheEvent> events;
  private final ConcurrentHashMap<String, CacheEngine<?, ?>> caches = new ConcurrentHashMap<>();

  /** By number, so that closing goes through them in the same order every time. */
  private final ConcurrentSkipListMap<Long, Flight<?, ?>> flights = new ConcurrentSkipListMap<>();

  private final AtomicLong flightIds = new AtomicLong();
  private final AtomicReference<@Nullable CompletableFuture<@Nullable Void>> closed =
      new AtomicReference<>();
  private final AtomicReference<@Nullable Thread> hook = new AtomicReference<>();

  /**
   * Makes an engine.
   *
   * @param env clocks, timers, executor, randomness; closed with the engine
   * @param store the store; closed with the engine
   * @param options time-outs
   * @param maxConcurrentLoads how many loads run at once; {@link Integer#MAX_VALUE} for no limit
   * @param maxQueuedLoads how many wait for that
   * @param listeners are told what happens
   */
  public Engine(
      Environment env,
      FillStore store,
      StoreOptions options,
      int maxConcurrentLoads,
      int maxQueuedLoads,
      List<PaddockListener> listeners) {
    this.env = env;
    this.events = Events.ofCaches(listeners);
    this.deadlines = new Deadlines(env, options.commandTimeout().toNanos());
    this.breaker = new Breaker(env, events, store, deadlines);
    this.gate = new LoadGate(maxConcurrentLoads, maxQueuedLoads);
    this.gateway =
        new Gateway(
            env,
            store,
            deadlines,
            breaker,
            events,
            Limits.millisRoundedUp(options.commandTimeout()));
  }

  /**
   * Makes a cache.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param configuration its settings
   * @return the cache
   * @throws IllegalStateException if there is one of that name
   * @throws PaddockClosedException if the engine is closed
   */
  public <K, V> Cache<K, V> open(CacheConfiguration<K, V> configuration) {
    if (isClosed()) {
      throw new PaddockClosedException("closed: can't make the cache " + configuration.name());
    }
    CacheEngine<K, V> cache = new CacheEngine<>(this, configuration);
    if (caches.putIfAbsent(configuration.name(), cache) != null) {
      throw new IllegalStateException(
          "there is a cache named \""
              + configuration.name()
              + "\" already: build each cache once and share it, or choose another name");
    }
    return cache;
  }

  Environment env() {
    return env;
  }

  Gateway gateway() {
    return gateway;
  }

  LoadGate gate() {
    return gate;
  }

  Events<CacheEvent> events() {
    return events;
  }

  boolean isClosed() {
    return closed.get() != null;
  }

  long nextFlightId() {
    return flightIds.incrementAndGet();
  }

  void register(Flight<?, ?> flight) {
    flights.put(flight.id, flight);
  }

  void forget(Flight<?, ?> flight) {
    flights.remove(flight.id);
  }

  /**
   * Counts the flights under way, quiet ones included.
   *
   * @return how many
   */
  public int flightCount() {
    return flights.size();
  }

  /** Runs a task on the executor; false if that has been shut down. */
  boolean execute(Runnable task) {
    try {
      env.executor().execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** 128 random bits, in hexadecimal. */
  String newOwner() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(env.randomLong()) + hex.toHexDigits(env.randomLong());
  }

  /** 64 random bits, of which the lower half is not all zero. */
  long newEpoch() {
    long epoch = env.randomLong();
    return (int) epoch == 0 ? epoch + 1 : epoch;
  }

  /** A random number in [0, 1). */
  double randomUnit() {
    return (env.randomLong() >>> 11) * 0x1.0p-53;
  }

  /** Lets an orderly end of the JVM close the engine. */
  public void closeOnShutdown() {
    Thread thread = new Thread(this::close, "paddock-shutdown");
    hook.set(thread);
    Runtime.getRuntime().addShutdownHook(thread);
  }

  /**
   * Closes and waits until that is done, for no longer than commands and connections may take to
   * end, or until the thread is interrupted, which keeps its flag.
   */
  public void close() {
    CompletableFuture<@Nullable Void> done = closeAsync();
    CompletableFuture<@Nullable Void> limit = new CompletableFuture<>();
    Environment.Timer timer = null;
    try {
      if (!done.isDone()) {
        timer = scheduleLimit(limit);
        CompletableFuture.anyOf(done, limit).get();
      }
      if (done.isDone()) {
        done.get();
      } else {
        // Most likely called by a listener, in the middle of what has to end first.
        LOGGER.log(System.Logger.Level.WARNING, "closing goes on in the background");
      }
    } catch (InterruptedException e) {
      // Closing goes on by itself.
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException("closing failed", e.getCause());
    } finally {
      if (timer != null) {
        timer.cancel();
      }
    }
  }

  /** Null if the environment is closed, and then so is all else in a moment. */
  private Environment.@Nullable Timer scheduleLimit(CompletableFuture<@Nullable Void> limit) {
    try {
      return env.schedule(
          () -> limit.complete(null),
          TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS + 2 * gateway.timeoutMillis()));
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /**
   * Ends every wait, gives the leases back, then closes the store and the environment.
   *
   * @return completes when that is done
   */
  public CompletableFuture<@Nullable Void> closeAsync() {
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    if (!closed.compareAndSet(null, done)) {
      CompletableFuture<@Nullable Void> before = closed.get();
      return before == null ? done : before;
    }
    removeHook();
    List<CompletableFuture<Void>> releases = new ArrayList<>();
    flights.values().forEach(flight -> flight.close(releases));
    // Each release ends by its own deadline at the latest.
    CompletionStage<Void> released =
        CompletableFuture.allOf(releases.toArray(CompletableFuture[]::new));
    released.thenRun(
        () -> {
          if (!execute(() -> closeStore(done))) {
            closeStore(done);
          }
        });
    return done;
  }

  private void closeStore(CompletableFuture<@Nullable Void> done) {
    try {
      breaker.stop();
      deadlines.expireAll();
      gateway.store().close();
      env.close();
      done.complete(null);
    } catch (RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
  }

  private void removeHook() {
    Thread thread = hook.getAndSet(null);
    if (thread != null && thread != Thread.currentThread()) {
      try {
        Runtime.getRuntime().removeShutdownHook(thread);
      } catch (IllegalStateException e) {
        // The JVM is shutting down and runs the hook: closing twice is harmless.
        LOGGER.log(System.Logger.Level.DEBUG, "closed by the end of the JVM", e);
      }
    }
  }
}
