/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.util.Objects.requireNonNull;

import dev.paddock.Lease;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.LeaseRun;
import dev.paddock.LeaseTimeoutException;
import dev.paddock.LeaseWork;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Runs work under leases, and gives them back whatever becomes of it. */
public final class LeasedWork {
  private final LeaseEngine engine;

  /**
   * Makes a runner.
   *
   * @param engine acquires the leases
   */
  public LeasedWork(LeaseEngine engine) {
    this.engine = engine;
  }

  /**
   * Runs work under a lease, if it can be had.
   *
   * @param <T> the type of the result
   * @param <X> what the work may throw
   * @param name the lease
   * @param options how
   * @param work the work
   * @return what became of it
   * @throws X if the work fails
   */
  public <T, X extends Exception> LeaseRun<T> run(
      String name, LeaseOptions options, LeaseWork<T, X> work) throws X {
    Optional<Lease> acquired = engine.tryAcquire(name, options);
    return acquired.isEmpty() ? LeaseRun.skipped() : runUnder(acquired.get(), options, work);
  }

  /**
   * Runs work under a lease, or fails if it can't be had in time.
   *
   * @param <T> the type of the result
   * @param <X> what the work may throw
   * @param name the lease
   * @param options how
   * @param work the work
   * @return what became of it
   * @throws X if the work fails
   */
  public <T, X extends Exception> LeaseRun<T> runExclusively(
      String name, LeaseOptions options, LeaseWork<T, X> work) throws X {
    long startNanos = engine.env().nanoTime();
    Optional<Lease> acquired = engine.tryAcquire(name, options);
    if (acquired.isEmpty()) {
      throw timedOut(name, startNanos);
    }
    return runUnder(acquired.get(), options, work);
  }

  private LeaseTimeoutException timedOut(String name, long startNanos) {
    Duration waited = Duration.ofNanos(engine.env().nanoTime() - startNanos);
    return new LeaseTimeoutException(
        "another holds the lease "
            + name
            + ", and this caller has waited for "
            + waited.toMillis()
            + " ms: raise waitTime, or use runIfAcquired to skip the work",
        waited);
  }

  private static <T, X extends Exception> LeaseRun<T> runUnder(
      Lease lease, LeaseOptions options, LeaseWork<T, X> work) throws X {
    Interrupter interrupter = new Interrupter();
    if (options.isInterruptOnLoss()) {
      lease.onLost(interrupter::interrupt);
    }
    @Nullable T value;
    try {
      value = work.run(lease);
    } catch (Throwable e) {
      interrupter.end();
      lease.release();
      throw e;
    }
    interrupter.end();
    return new LeaseRun<>(true, value, lease.release());
  }

  /** Interrupts a thread, but not after its work has ended. */
  private static final class Interrupter {
    private final Thread thread = Thread.currentThread();
    private final ReentrantLock lock = new ReentrantLock();
    private boolean interrupted;
    private boolean ended;

    void interrupt() {
      lock.lock();
      try {
        if (!ended) {
          interrupted = true;
          thread.interrupt();
        }
      } finally {
        lock.unlock();
      }
    }

    void end() {
      lock.lock();
      try {
        ended = true;
        if (interrupted) {
          // Ours, and meant for the work alone.
          Thread.interrupted();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Runs asynchronous work under a lease.
   *
   * @param <T> the type of the result
   * @param name the lease
   * @param options how
   * @param work begins the work
   * @param must whether it is a failure if the lease can't be had
   * @return what became of it
   */
  public <T> CompletableFuture<LeaseRun<T>> runAsync(
      String name,
      LeaseOptions options,
      Function<Lease, ? extends CompletionStage<T>> work,
      boolean must) {
    long startNanos = engine.env().nanoTime();
    CompletableFuture<LeaseRun<T>> result = new CompletableFuture<>();
    CompletionStage<Optional<Lease>> acquiring = engine.tryAcquireAsync(name, options);
    acquiring.whenComplete(
        (acquired, error) -> {
          if (error != null) {
            result.completeExceptionally(LeaseEngine.unwrapped(error));
          } else if (acquired.isPresent()) {
            runUnder(acquired.get(), options, work, result);
          } else if (must) {
            result.completeExceptionally(timedOut(name, startNanos));
          } else {
            result.complete(LeaseRun.skipped());
          }
        });
    return result;
  }

  private static <T> void runUnder(
      Lease lease,
      LeaseOptions options,
      Function<Lease, ? extends CompletionStage<T>> work,
      CompletableFuture<LeaseRun<T>> result) {
    CompletionStage<T> stage;
    try {
      stage = requireNonNull(work.apply(lease), "the work's stage");
    } catch (RuntimeException | Error e) {
      after(lease, outcome -> result.completeExceptionally(e));
      if (e instanceof Error fatal) {
        throw fatal;
      }
      return;
    }
    if (options.isInterruptOnLoss()) {
      lease.onLost(() -> stage.toCompletableFuture().cancel(true));
    }
    stage.whenComplete(
        (value, error) ->
            after(
                lease,
                outcome -> {
                  if (error == null) {
                    result.complete(new LeaseRun<>(true, value, outcome));
                  } else {
                    result.completeExceptionally(LeaseEngine.unwrapped(error));
                  }
                }));
  }

  /** Gives a lease back, then goes on. */
  private static void after(Lease lease, Consumer<LeaseOutcome> then) {
    CompletionStage<LeaseOutcome> ending = lease.releaseAsync();
    ending.thenAccept(then);
  }
}
