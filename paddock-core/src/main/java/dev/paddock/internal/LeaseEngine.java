/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.util.Objects.requireNonNull;

import dev.paddock.KeyFormats;
import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseInspection;
import dev.paddock.LeaseListener;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the leases of one {@link dev.paddock.LeaseLock} share. */
public final class LeaseEngine {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private static final int NAME_CHARACTERS = 200;
  private static final long CLEAN_UP_MILLIS = 50;
  private static final long CLEAN_UP_MILLIS_MAX = 1_000;

  private final Environment env;
  private final LeaseGateway gateway;
  private final Deadlines deadlines;
  private final Events<LeaseEvent> events;
  private final ConcurrentHashMap<String, LeaseQueue> queues = new ConcurrentHashMap<>();
  private final Set<HeldLease> held = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** What an attempt came to, other than a failure. */
  sealed interface Answer {}

  /** The lease is ours; its validity is counted from when the request was sent. */
  record Grant(
      String name, String owner, long token, long sentNanos, long sentWallMillis, long validMillis)
      implements Answer {}

  /** Another holds it, for so long unless it extends; 0 if that is unknown. */
  record Refusal(long leftMillis) implements Answer {}

  /** What a caller waits for. */
  static final class Result extends CompletableFuture<Optional<Lease>> {
    /** Copies are plain futures: completing one from outside changes nothing here. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }
  }

  /**
   * Makes an engine.
   *
   * @param env clocks, timers, executor, randomness; closed with the engine
   * @param store the store; closed with the engine
   * @param options time-outs
   * @param listeners are told what happens
   */
  public LeaseEngine(
      Environment env, LeaseStore store, StoreOptions options, List<LeaseListener> listeners) {
    this.env = env;
    this.events = Events.ofLeases(listeners);
    Duration patience = store.patience(options.commandTimeout());
    this.deadlines = new Deadlines(env, patience.toNanos());
    this.gateway = new LeaseGateway(store, deadlines, events, Limits.millisRoundedUp(patience));
  }

  Environment env() {
    return env;
  }

  LeaseStore store() {
    return gateway.store();
  }

  LeaseGateway gateway() {
    return gateway;
  }

  Events<LeaseEvent> events() {
    return events;
  }

  boolean isClosed() {
    return closed.get();
  }

  double randomUnit() {
    return (env.randomLong() >>> 11) * 0x1.0p-53;
  }

  private String newOwner() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(env.randomLong()) + hex.toHexDigits(env.randomLong());
  }

  void onFailure(Throwable error) {
    LOGGER.log(System.Logger.Level.ERROR, "a turn of a lease queue failed", error);
  }

  /** Runs the user's code on the executor; what it throws goes to the log. */
  void execute(Runnable task) {
    try {
      env.executor().execute(() -> runLogged(task));
    } catch (RejectedExecutionException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "shut down before a callback could run", e);
    }
  }

  private static void runLogged(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOGGER.log(System.Logger.Level.WARNING, "a callback of a lease threw", e);
    }
  }

  private static String checkedName(String name) {
    requireNonNull(name, "name");
    if (name.isEmpty()
        || name.length() > NAME_CHARACTERS
        || name.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          "the name of a lease must have 1 to "
              + NAME_CHARACTERS
              + " characters and no control characters, is \""
              + name
              + "\"");
    }
    KeyFormats.utf8(name);
    return name;
  }

  private void checkOptions(LeaseOptions options) {
    requireNonNull(options, "options");
    Duration time = options.leaseTime();
    Duration min = store().leaseTimeMin();
    Duration max = store().leaseTimeMax();
    if (time.compareTo(min) < 0 || time.compareTo(max) > 0) {
      throw new IllegalArgumentException(
          "leaseTime must be between "
              + min
              + " and "
              + max
              + " with leases by "
              + store().kind()
              + ", is "
              + time);
    }
    Duration longest = options.holdTimeMax();
    if (longest != null && longest.compareTo(time) < 0) {
      throw new IllegalArgumentException(
          "renewFor must not be shorter than leaseTime: it is "
              + longest
              + ", leaseTime is "
              + time);
    }
  }

  /**
   * Acquires a lease and waits for the answer.
   *
   * @param name the lease
   * @param options how
   * @return the lease; empty if another holds it
   */
  public Optional<Lease> tryAcquire(String name, LeaseOptions options) {
    Pending pending = begin(name, options);
    try {
      return pending.result.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      pending.abandon();
      throw new PaddockInterruptedException("interrupted while waiting for the lease " + name, e);
    } catch (ExecutionException e) {
      throw fresh(e.getCause());
    }
  }

  /** The same failure, thrown here. */
  private static RuntimeException fresh(@Nullable Throwable error) {
    if (error instanceof StoreException e) {
      return new StoreException(String.valueOf(e.getMessage()), e, e.mayHaveHappened());
    }
    if (error instanceof PaddockClosedException e) {
      return new PaddockClosedException(String.valueOf(e.getMessage()));
    }
    return error instanceof RuntimeException e
        ? e
        : new IllegalStateException("acquiring failed", error);
  }

  /**
   * Acquires a lease.
   *
   * @param name the lease
   * @param options how
   * @return the lease; empty if another holds it
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(String name, LeaseOptions options) {
    Pending pending = begin(name, options);
    CompletableFuture<Optional<Lease>> result = new CompletableFuture<>();
    CompletionStage<Optional<Lease>> answered = pending.result;
    CompletionStage<Optional<Lease>> given = result;
    answered.whenComplete(
        (lease, error) ->
            execute(
                () -> {
                  boolean taken =
                      error == null
                          ? result.complete(lease)
                          : result.completeExceptionally(unwrapped(error));
                  if (!taken && lease != null) {
                    lease.ifPresent(LeaseEngine::giveBack);
                  }
                }));
    given.whenComplete(
        (lease, error) -> {
          if (result.isCancelled()) {
            pending.abandon();
          }
        });
    return result;
  }

  static Throwable unwrapped(Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** A call to acquire that is under way. */
  private static final class Pending {
    final Result result = new Result();
    private @Nullable LeaseQueue queue;
    private LeaseQueue.@Nullable LeaseWaiter waiter;

    /** Gives up: what was granted, or still will be, is given back. */
    void abandon() {
      if (result.cancel(false)) {
        if (queue != null && waiter != null) {
          queue.remove(waiter);
        }
      } else if (!result.isCompletedExceptionally()) {
        result.join().ifPresent(LeaseEngine::giveBack);
      }
    }
  }

  private Pending begin(String name, LeaseOptions options) {
    checkedName(name);
    checkOptions(options);
    if (isClosed()) {
      throw new PaddockClosedException("closed: can't acquire the lease " + name);
    }
    long startNanos = env.nanoTime();
    Pending pending = new Pending();
    if (options.waitTime().isZero()) {
      attempt(
          name,
          options,
          LeaseRequest.Waiting.NOBODY,
          (answer, error) -> {
            if (error != null) {
              pending.result.completeExceptionally(error);
            } else if (answer instanceof Grant grant) {
              HeldLease lease = hold(grant, options);
              if (!pending.result.complete(Optional.of(lease))) {
                giveBack(lease);
              }
            } else {
              pending.result.complete(Optional.empty());
            }
          });
    } else {
      LeaseQueue.LeaseWaiter waiter = new LeaseQueue.LeaseWaiter(options, pending.result);
      LeaseQueue queue =
          queues.compute(
              name,
              (n, present) -> {
                LeaseQueue one = present == null ? new LeaseQueue(this, n) : present;
                one.users++;
                return one;
              });
      pending.queue = queue;
      pending.waiter = waiter;
      queue.add(waiter);
    }
    if (events.on()) {
      CompletionStage<Optional<Lease>> answered = pending.result;
      answered.whenComplete(
          (lease, error) -> {
            if (error == null) {
              tell(name, startNanos, lease);
            }
          });
    }
    return pending;
  }

  /** Frees a lease for which nobody waits any more. */
  static void giveBack(Lease lease) {
    CompletableFuture<LeaseOutcome> unused = lease.releaseAsync();
  }

  private void tell(String name, long startNanos, Optional<Lease> lease) {
    Duration waited = Duration.ofNanos(env.nanoTime() - startNanos);
    events.emit(
        lease.isPresent()
            ? new LeaseEvent.Acquired(name, lease.get().fencingToken(), waited)
            : new LeaseEvent.Refused(name, waited));
  }

  void leave(LeaseQueue queue) {
    queues.computeIfPresent(
        queue.name(), (n, present) -> present == queue && --present.users == 0 ? null : present);
  }

  /** Asks the store once. The answer, or a failure, arrives exactly once. */
  void attempt(
      String name,
      LeaseOptions options,
      LeaseRequest.Waiting waiting,
      Gateway.Answer<Answer> answer) {
    String owner = newOwner();
    long leaseMillis = Limits.millisRoundedUp(options.leaseTime());
    long sentNanos = env.nanoTime();
    long sentWallMillis = env.wallMillis();
    LeaseRequest request =
        new LeaseRequest(name, owner, leaseMillis, gateway.patienceMillis(), waiting);
    gateway.<LeaseReply>call(
        "ACQUIRE",
        name,
        () -> store().acquire(request),
        (reply, error) -> {
          if (error != null) {
            if (error.mayHaveHappened()) {
              cleanUp(name, owner, leaseMillis);
            }
            answer.accept(null, error);
          } else if (reply != null) {
            judge(request, reply, sentNanos, sentWallMillis, answer);
          }
        },
        late -> {
          if (late.status() == LeaseReply.Status.GRANTED) {
            cleanUp(name, owner, leaseMillis);
          }
        });
  }

  private void judge(
      LeaseRequest request,
      LeaseReply reply,
      long sentNanos,
      long sentWallMillis,
      Gateway.Answer<Answer> answer) {
    switch (reply.status()) {
      case GRANTED -> {
        long validMillis = reply.millis();
        boolean over =
            env.nanoTime() - sentNanos >= validMillis * 1_000_000L
                || env.wallMillis() - sentWallMillis >= validMillis;
        if (over || isClosed()) {
          cleanUp(request.name(), request.owner(), request.leaseMillis());
          answer.accept(new Refusal(0), null);
        } else {
          answer.accept(
              new Grant(
                  request.name(),
                  request.owner(),
                  reply.token(),
                  sentNanos,
                  sentWallMillis,
                  validMillis),
              null);
        }
      }
      case HELD -> answer.accept(new Refusal(reply.millis()), null);
      case TOO_LATE ->
          answer.accept(
              null,
              new StoreException(
                  "ACQUIRE of the lease " + request.name() + " reached the store too late",
                  null,
                  false));
    }
  }

  HeldLease hold(Grant grant, LeaseOptions options) {
    HeldLease lease = new HeldLease(this, grant, options);
    held.add(lease);
    lease.start();
    if (isClosed()) {
      lease.lose(LeaseEvent.LossReason.CLOSED);
    }
    return lease;
  }

  void forget(HeldLease lease) {
    held.remove(lease);
  }

  /**
   * Gives a lease back. Without an answer it goes on in the background.
   *
   * @param forNanos how long the lease may still be there
   * @param then takes whether it was there; null if that is unknown
   */
  void release(String name, String owner, long forNanos, Consumer<@Nullable Boolean> then) {
    if (isClosed()) {
      then.accept(null);
      return;
    }
    long untilNanos = env.nanoTime() + forNanos;
    gateway.<Boolean>call(
        "RELEASE",
        name,
        () -> store().release(name, owner),
        (released, error) -> {
          if (error != null) {
            cleanUp(name, owner, untilNanos, CLEAN_UP_MILLIS);
          }
          then.accept(released);
        },
        null);
  }

  /** A lease is being given back: the request has been sent. */
  void onReleasing(String name) {
    LeaseQueue queue = queues.get(name);
    if (queue != null && store().inOrder()) {
      queue.onReleasing();
    }
  }

  /** Releases what an attempt may have left. */
  private void cleanUp(String name, String owner, long leaseMillis) {
    cleanUp(name, owner, env.nanoTime() + (leaseMillis + gateway.patienceMillis()) * 1_000_000L, 0);
  }

  private void cleanUp(String name, String owner, long untilNanos, long delayMillis) {
    if (isClosed()) {
      return;
    }
    if (env.nanoTime() - untilNanos >= 0) {
      cleanedUp(name, owner, null);
      return;
    }
    Runnable once =
        () ->
            gateway.<Boolean>call(
                "RELEASE",
                name,
                () -> store().release(name, owner),
                (released, error) -> {
                  if (error == null) {
                    cleanedUp(name, owner, released);
                  } else {
                    cleanUp(
                        name,
                        owner,
                        untilNanos,
                        Math.min(
                            CLEAN_UP_MILLIS_MAX,
                            Math.max(CLEAN_UP_MILLIS, delayMillis)
                                + (long) (Math.max(CLEAN_UP_MILLIS, delayMillis) * randomUnit())));
                  }
                },
                null);
    if (delayMillis == 0) {
      once.run();
    } else {
      schedule(once, delayMillis * 1_000_000L);
    }
  }

  /** Runs a task later, unless the engine is closed before. */
  Environment.Timer schedule(Runnable task, long delayNanos) {
    try {
      return env.schedule(task, delayNanos);
    } catch (RejectedExecutionException e) {
      LOGGER.log(System.Logger.Level.DEBUG, "shut down before a timer was set", e);
      return () -> {};
    }
  }

  private void cleanedUp(String name, String owner, @Nullable Boolean released) {
    if (events.on()) {
      events.emit(new LeaseEvent.CleanedUp(name, owner, released));
    }
  }

  /**
   * Reports what the store knows of a lease.
   *
   * @param name the lease
   * @return the report
   */
  public CompletableFuture<LeaseInspection> inspect(String name) {
    checkedName(name);
    CompletableFuture<LeaseInspection> result = new CompletableFuture<>();
    if (isClosed()) {
      result.completeExceptionally(
          new PaddockClosedException("closed: can't inspect the lease " + name));
      return result;
    }
    gateway.<LeaseInspection>call(
        "INSPECT",
        name,
        () -> store().inspect(name),
        (report, error) -> {
          if (error != null) {
            result.completeExceptionally(error);
          } else {
            result.complete(report);
          }
        },
        null);
    return result;
  }

  /**
   * Counts what is under way.
   *
   * @return queues with waiting callers, and leases held
   */
  public int activeCount() {
    return queues.size() + held.size();
  }

  /** Ends every wait, tells every holder, closes the store and the environment. Idempotent. */
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    queues.values().forEach(LeaseQueue::close);
    // In an order that a run with the same seed takes again.
    held.stream()
        .sorted(Comparator.comparingLong(HeldLease::fencingToken))
        .forEach(lease -> lease.lose(LeaseEvent.LossReason.CLOSED));
    deadlines.expireAll();
    store().close();
    env.close();
  }
}
