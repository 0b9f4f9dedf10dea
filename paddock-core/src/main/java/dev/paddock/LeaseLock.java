/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import dev.paddock.internal.LeaseEngine;
import dev.paddock.internal.LeasedWork;
import dev.paddock.internal.Limits;
import dev.paddock.internal.SystemEnvironment;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.LeaseStoreProvider;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lets one process of the fleet do something at a time, by leases with fencing tokens.
 *
 * <p>Guaranteed: two leases of one name never overlap within their validity, as far as the store
 * keeps its promise, and each carries a token greater than all before it. Not guaranteed: that a
 * holder whose lease is over has stopped. A process can be paused between looking at {@link
 * Lease#isValid()} and writing; only a resource that compares tokens closes that gap. This is not a
 * {@link java.util.concurrent.locks.Lock}: no thread owns a lease, none can enter it twice, and
 * losing it is an outcome, an event and a metric, never an exception.
 *
 * <p>Thread-safe. Callbacks and asynchronous work run on the environment's executor. One for each
 * store and application; close it at the end.
 *
 * <p>When the store is slow or gone, {@code tryAcquire} fails with a {@link StoreException} within
 * its time-out, or within {@code waitTime} if that is longer, and what the attempt may have left is
 * cleaned up in the background. Callers of one process take turns in the order in which they came;
 * processes compete, each with one attempt at a time.
 */
public final class LeaseLock implements AutoCloseable {
  private final LeaseEngine engine;
  private final LeasedWork runner;

  private LeaseLock(LeaseEngine engine) {
    this.engine = engine;
    this.runner = new LeasedWork(engine);
  }

  /**
   * Connects to the store of leases that a URI names, by the provider found on the class path.
   *
   * @param uri for example {@code redis://host:6379}
   * @return a lock that is ready
   * @throws IllegalArgumentException if no provider on the class path accepts the URI, or it is
   *     malformed
   * @throws StoreException if the store can't be reached, refuses the credentials, or is not fit
   *     for leases
   */
  public static LeaseLock connect(String uri) {
    return newBuilder().store(uri).build();
  }

  /**
   * Starts to make a lock with options.
   *
   * @return a builder
   */
  public static Builder newBuilder() {
    return new Builder();
  }

  /**
   * Acquires a lease, or says that another holds it.
   *
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, wait time, renewal
   * @return the lease; empty if another held it for the whole {@code waitTime}
   * @throws IllegalArgumentException if the name is malformed, or the lease time is outside the
   *     limits of the store
   * @throws StoreException if the store could not be asked in time; nothing is held then, or it is
   *     given back in the background
   * @throws PaddockInterruptedException if the thread is interrupted while it waits; nothing is
   *     held then, or it is given back in the background
   * @throws PaddockClosedException if the lock is closed, before or meanwhile
   */
  public Optional<Lease> tryAcquire(String name, LeaseOptions options) {
    return engine.tryAcquire(name, options);
  }

  /**
   * As {@link #tryAcquire}, without blocking. Cancelling the future gives up; a lease that was
   * granted too late for it is given back.
   *
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, wait time, renewal
   * @return the lease; empty if another held it for the whole {@code waitTime}; completes
   *     exceptionally with what {@link #tryAcquire} throws
   * @throws IllegalArgumentException if the name is malformed, or the lease time is outside the
   *     limits of the store
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(String name, LeaseOptions options) {
    return engine.tryAcquireAsync(name, options);
  }

  /**
   * Runs work under a lease, or skips it if another holds the lease. The calling thread runs it.
   * The lease is given back afterwards, also when the work throws.
   *
   * @param <X> what the work may throw
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, renewal; a {@code waitTime} is waited before skipping
   * @param work the work
   * @return whether it ran, and how the lease ended
   * @throws X if the work fails
   * @throws IllegalArgumentException as {@link #tryAcquire}
   * @throws StoreException as {@link #tryAcquire}
   * @throws PaddockInterruptedException as {@link #tryAcquire}
   * @throws PaddockClosedException as {@link #tryAcquire}
   */
  public <X extends Exception> LeaseRun<Void> runIfAcquired(
      String name, LeaseOptions options, LeaseTask<X> work) throws X {
    return runner.run(name, options, withoutResult(work));
  }

  /**
   * As {@link #runIfAcquired}, for work with a result.
   *
   * @param <T> the type of the result
   * @param <X> what the work may throw
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, renewal; a {@code waitTime} is waited before skipping
   * @param work the work
   * @return whether it ran, its result, and how the lease ended
   * @throws X if the work fails
   */
  public <T, X extends Exception> LeaseRun<T> callIfAcquired(
      String name, LeaseOptions options, LeaseWork<T, X> work) throws X {
    return runner.run(name, options, requireNonNull(work, "work"));
  }

  /**
   * Runs work under a lease, and waits up to {@code waitTime} for it. The calling thread runs the
   * work. The lease is given back afterwards, also when the work throws.
   *
   * @param <X> what the work may throw
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, wait time, renewal
   * @param work the work
   * @return how the lease ended
   * @throws X if the work fails
   * @throws LeaseTimeoutException if another held the lease for the whole {@code waitTime}
   * @throws IllegalArgumentException as {@link #tryAcquire}
   * @throws StoreException as {@link #tryAcquire}
   * @throws PaddockInterruptedException as {@link #tryAcquire}
   * @throws PaddockClosedException as {@link #tryAcquire}
   */
  public <X extends Exception> LeaseRun<Void> runExclusively(
      String name, LeaseOptions options, LeaseTask<X> work) throws X {
    return runner.runExclusively(name, options, withoutResult(work));
  }

  /**
   * As {@link #runExclusively}, for work with a result.
   *
   * @param <T> the type of the result
   * @param <X> what the work may throw
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, wait time, renewal
   * @param work the work
   * @return its result, and how the lease ended
   * @throws X if the work fails
   * @throws LeaseTimeoutException if another held the lease for the whole {@code waitTime}
   */
  public <T, X extends Exception> LeaseRun<T> callExclusively(
      String name, LeaseOptions options, LeaseWork<T, X> work) throws X {
    return runner.runExclusively(name, options, requireNonNull(work, "work"));
  }

  private static <X extends Exception> LeaseWork<Void, X> withoutResult(LeaseTask<X> work) {
    requireNonNull(work, "work");
    return lease -> {
      work.run(lease);
      return null;
    };
  }

  /**
   * As {@link #callIfAcquired}, for asynchronous work: the lease is given back when the stage of
   * the work completes. With {@link LeaseOptions#interruptOnLoss()} the future of the work is
   * cancelled if the lease is lost.
   *
   * @param <T> the type of the result
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, renewal; a {@code waitTime} is waited before skipping
   * @param work begins the work, on the executor
   * @return whether it ran, its result, and how the lease ended; completes exceptionally with what
   *     the work fails with, or with what {@link #tryAcquire} throws
   * @throws IllegalArgumentException as {@link #tryAcquire}
   */
  public <T> CompletableFuture<LeaseRun<T>> callIfAcquiredAsync(
      String name, LeaseOptions options, Function<Lease, ? extends CompletionStage<T>> work) {
    return runner.runAsync(name, options, requireNonNull(work, "work"), false);
  }

  /**
   * As {@link #callExclusively}, for asynchronous work: the lease is given back when the stage of
   * the work completes. With {@link LeaseOptions#interruptOnLoss()} the future of the work is
   * cancelled if the lease is lost.
   *
   * @param <T> the type of the result
   * @param name 1 to 200 characters, no control characters
   * @param options lease time, wait time, renewal
   * @param work begins the work, on the executor
   * @return its result, and how the lease ended; completes exceptionally with what the work fails
   *     with, with a {@link LeaseTimeoutException}, or with what {@link #tryAcquire} throws
   * @throws IllegalArgumentException as {@link #tryAcquire}
   */
  public <T> CompletableFuture<LeaseRun<T>> callExclusivelyAsync(
      String name, LeaseOptions options, Function<Lease, ? extends CompletionStage<T>> work) {
    return runner.runAsync(name, options, requireNonNull(work, "work"), true);
  }

  /**
   * Reports what the store knows of a lease: for people and tools, never for deciding who may do
   * what.
   *
   * @param name 1 to 200 characters, no control characters
   * @return the report; completes exceptionally with a {@link StoreException} if nothing could be
   *     asked
   * @throws IllegalArgumentException if the name is malformed
   */
  public CompletableFuture<LeaseInspection> inspect(String name) {
    return engine.inspect(name);
  }

  /**
   * Ends every wait with a {@link PaddockClosedException}, tells the holders of leases that they
   * are lost, and closes the connections. Leases that are held are <em>not</em> given back, since
   * their work may still run: they run out by themselves. Close them first where the work is done.
   * Idempotent.
   */
  @Override
  public void close() {
    engine.close();
  }

  /** Options of a {@link LeaseLock}. Not thread-safe. */
  public static final class Builder {
    private @Nullable LeaseStoreFactory store;
    private @Nullable Environment environment;
    private @Nullable Duration connectTimeout;
    private @Nullable Duration commandTimeout;
    private final List<LeaseListener> listeners = new ArrayList<>();

    private Builder() {}

    private static <T> T once(String option, @Nullable T before, T value) {
      if (before != null) {
        throw new IllegalStateException(option + " was set before; set it once");
      }
      return value;
    }

    /**
     * Sets the store by URI, see {@link LeaseLock#connect(String)}.
     *
     * @param uri the URI
     * @return this
     * @throws IllegalArgumentException if no provider on the class path accepts it, or several do:
     *     then name one of them with {@link #store(LeaseStoreFactory)}
     * @throws IllegalStateException if a store was set before
     */
    public Builder store(String uri) {
      requireNonNull(uri, "uri");
      LeaseStoreProvider chosen =
          Providers.only(
              ServiceLoader.load(LeaseStoreProvider.class), provider -> provider.accepts(uri), uri);
      if (chosen != null) {
        return store(chosen.factory(uri));
      }
      int scheme = uri.indexOf("://");
      throw new IllegalArgumentException(
          "no provider of leases on the class path accepts "
              + (scheme < 0 ? "a URI without a scheme" : uri.substring(0, scheme) + "://")
              + ": add paddock-redis-lettuce for redis://, rediss:// and redlock://, paddock-etcd for"
              + " etcd://, or paddock-zookeeper for zookeeper://");
    }

    /**
     * Sets the store.
     *
     * @param factory opens it
     * @return this
     * @throws IllegalStateException if a store was set before
     */
    public Builder store(LeaseStoreFactory factory) {
      store = once("store", store, requireNonNull(factory, "factory"));
      return this;
    }

    /**
     * Sets clocks, timers, executor and randomness. By default the JVM's own, with an executor of
     * virtual threads where the JVM has them.
     *
     * @param surroundings the environment; closed with the lock
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
     * Sets how long one command may take, queueing and reconnecting included.
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
     * Adds a listener.
     *
     * @param listener is told what happens to the leases
     * @return this
     */
    public Builder listener(LeaseListener listener) {
      listeners.add(requireNonNull(listener, "listener"));
      return this;
    }

    /**
     * Opens the store.
     *
     * @return a lock that is ready
     * @throws IllegalStateException if no store was set
     * @throws StoreException if the store can't be reached, refuses the credentials, or is not fit
     *     for leases
     */
    public LeaseLock build() {
      if (store == null) {
        throw new IllegalStateException("no store was set: call store(\"redis://...\")");
      }
      StoreOptions options =
          new StoreOptions(
              connectTimeout == null ? Duration.ofSeconds(10) : connectTimeout,
              commandTimeout == null ? Duration.ofSeconds(1) : commandTimeout);
      Environment surroundings = environment == null ? SystemEnvironment.create() : environment;
      LeaseStore opened;
      try {
        opened = store.open(surroundings, options);
      } catch (RuntimeException e) {
        surroundings.close();
        throw e;
      }
      return new LeaseLock(new LeaseEngine(surroundings, opened, options, List.copyOf(listeners)));
    }
  }
}
