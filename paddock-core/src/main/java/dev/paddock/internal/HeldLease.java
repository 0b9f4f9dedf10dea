/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.ExtensionOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LossWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lease that was granted to this process. */
final class HeldLease implements Lease {
  /*
   * HELD -> LOST -> ENDED, or HELD -> ENDED. Nothing leads back, nothing is renewed outside HELD, and
   * whatever an answer says that comes later changes nothing.
   *
   * HELD    renewed, if that was asked; extensions move the end of validity, never back.
   * LOST    the loss was told. With TAKEN the store has said so; with RAN_OUT and HELD_TOO_LONG it is
   *         told a margin (a tenth of the lease, 100 ms at most) before the end, and until then the
   *         clock still calls the lease valid, so that work may be brought to an end.
   * ENDED   given back here.
   *
   * The end of validity is counted from before the request that brought it was sent, so the store never
   * frees the lease earlier than this process believes. Both clocks are asked: the wall clock goes on
   * while a virtual machine is suspended, the monotonic one when somebody sets the time back.
   */
  private enum State {
    HELD,
    LOST,
    ENDED
  }

  private final LeaseEngine engine;
  private final Environment env;
  private final String name;
  private final String owner;
  private final long token;
  private final long leaseMillis;
  private final long marginNanos;
  private final long acquiredNanos;
  private final long holdUntilNanos;
  private final boolean renewing;

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Runnable> callbacks = new ArrayList<>();
  private State state = State.HELD;
  private LeaseEvent.@Nullable LossReason lossReason;
  private long validUntilNanos;
  private long wallSentMillis;
  private long wallValidMillis;
  private boolean overdue;
  private boolean renewalUnderWay;
  private boolean renewedForAsLongAsAsked;
  private Environment.@Nullable Timer renewTimer;
  private Environment.@Nullable Timer lossTimer;
  private @Nullable Runnable watch;
  private @Nullable CompletableFuture<LeaseOutcome> ending;

  HeldLease(LeaseEngine engine, LeaseEngine.Grant grant, LeaseOptions options) {
    this.engine = engine;
    this.env = engine.env();
    this.name = grant.name();
    this.owner = grant.owner();
    this.token = grant.token();
    this.leaseMillis = Limits.millisRoundedUp(options.leaseTime());
    this.marginNanos = Math.min(leaseMillis * 100_000L, 100_000_000L);
    this.acquiredNanos = env.nanoTime();
    this.renewing = options.holdTimeMax() != null;
    this.holdUntilNanos =
        options.holdTimeMax() == null
            ? 0
            : grant.sentNanos() + Limits.millisRoundedUp(options.holdTimeMax()) * 1_000_000L;
    this.validUntilNanos = grant.sentNanos() + grant.validMillis() * 1_000_000L;
    this.wallSentMillis = grant.sentWallMillis();
    this.wallValidMillis = grant.validMillis();
    Consumer<Lease> onLost = options.onLost();
    if (onLost != null) {
      callbacks.add(() -> onLost.accept(this));
    }
  }

  /** Starts renewal and the watch for the end of validity. */
  void start() {
    lock.lock();
    try {
      if (renewing) {
        renewTimer = engine.schedule(this::renew, thirdNanos());
      }
      armLossTimer();
    } finally {
      lock.unlock();
    }
    if (engine.store() instanceof LossWatch watching) {
      Runnable ended = watching.watch(name, owner, this::onSignal);
      lock.lock();
      try {
        if (state == State.HELD) {
          watch = ended;
          return;
        }
      } finally {
        lock.unlock();
      }
      ended.run();
    }
  }

  private long thirdNanos() {
    return leaseMillis * 1_000_000L / 3;
  }

  private void armLossTimer() {
    lossTimer = engine.schedule(this::onLossTimer, leftNanos() - marginNanos);
  }

  private void onLossTimer() {
    lock.lock();
    try {
      if (state != State.HELD) {
        return;
      }
      if (!isOver() && leftNanos() - marginNanos > 0) {
        armLossTimer();
        return;
      }
    } finally {
      lock.unlock();
    }
    lose(null);
  }

  private void onSignal(LossWatch.Signal signal) {
    if (signal == LossWatch.Signal.LOST) {
      lose(LeaseEvent.LossReason.TAKEN);
    } else {
      send(asLongAsAsked(), outcome -> {});
    }
  }

  /** How long an extension may make it last that the holder has not called for. */
  private long asLongAsAsked() {
    lock.lock();
    try {
      long until = renewing ? holdUntilNanos : validUntilNanos;
      return Math.max(1, Math.min(leaseMillis, (until - env.nanoTime()) / 1_000_000L));
    } finally {
      lock.unlock();
    }
  }

  /** Whether the validity has ended by one of the clocks; once it has, it stays so. */
  private boolean isOver() {
    overdue =
        overdue
            || validUntilNanos - env.nanoTime() <= 0
            || env.wallMillis() - wallSentMillis >= wallValidMillis;
    return overdue;
  }

  private void renew() {
    lock.lock();
    try {
      renewTimer = null;
      if (state != State.HELD || renewalUnderWay) {
        return;
      }
      if (!isOver() && holdUntilNanos - validUntilNanos < leaseMillis * 100_000L) {
        // The lease lasts as long as it may: the watch for its end tells when that is.
        renewedForAsLongAsAsked = true;
        return;
      }
      renewalUnderWay = true;
    } finally {
      lock.unlock();
    }
    long sentNanos = env.nanoTime();
    send(
        asLongAsAsked(),
        outcome -> {
          lock.lock();
          try {
            renewalUnderWay = false;
            if (state == State.HELD) {
              long next =
                  outcome == ExtensionOutcome.EXTENDED
                      ? thirdNanos() - (env.nanoTime() - sentNanos)
                      : thirdNanos() / 2;
              renewTimer = engine.schedule(this::renew, next);
            }
          } finally {
            lock.unlock();
          }
        });
  }

  /** Extends by so much; the outcome arrives once, and after its effect. */
  private void send(long millis, Consumer<ExtensionOutcome> then) {
    boolean held;
    lock.lock();
    try {
      held = state == State.HELD && !isOver();
    } finally {
      lock.unlock();
    }
    if (!held) {
      lose(null);
      then.accept(ExtensionOutcome.LOST);
      return;
    }
    long sentNanos = env.nanoTime();
    long sentWallMillis = env.wallMillis();
    engine
        .gateway()
        .call(
            "EXTEND",
            name,
            () -> engine.store().extend(name, owner, token, millis),
            (reply, error) ->
                then.accept(
                    reply == null
                        ? ExtensionOutcome.UNKNOWN
                        : onExtended(reply, sentNanos, sentWallMillis)),
            reply -> onExtended(reply, sentNanos, sentWallMillis));
  }

  private ExtensionOutcome onExtended(LeaseExtension reply, long sentNanos, long sentWallMillis) {
    boolean lost = !reply.extended();
    lock.lock();
    try {
      if (state != State.HELD) {
        return ExtensionOutcome.LOST;
      }
      if (!lost && !isOver()) {
        long until = sentNanos + reply.millis() * 1_000_000L;
        // An overtaken reply must not move the end back.
        if (until - validUntilNanos > 0) {
          validUntilNanos = until;
          wallSentMillis = sentWallMillis;
          wallValidMillis = reply.millis();
        }
      }
    } finally {
      lock.unlock();
    }
    if (lost) {
      lose(LeaseEvent.LossReason.TAKEN);
      return ExtensionOutcome.LOST;
    }
    if (!isValid()) {
      lose(null);
      return ExtensionOutcome.LOST;
    }
    if (engine.events().on()) {
      engine.events().emit(new LeaseEvent.Extended(name, token));
    }
    return ExtensionOutcome.EXTENDED;
  }

  /** Tells the loss, once. Without a reason, the time is the reason. */
  void lose(LeaseEvent.@Nullable LossReason reason) {
    LeaseEvent.LossReason why;
    List<Runnable> told;
    Runnable ended;
    lock.lock();
    try {
      if (state != State.HELD) {
        return;
      }
      why =
          reason != null
              ? reason
              : renewedForAsLongAsAsked
                  ? LeaseEvent.LossReason.HELD_TOO_LONG
                  : LeaseEvent.LossReason.RAN_OUT;
      state = State.LOST;
      lossReason = why;
      cancelTimers();
      told = new ArrayList<>(callbacks);
      callbacks.clear();
      ended = watch;
      watch = null;
    } finally {
      lock.unlock();
    }
    if (ended != null) {
      ended.run();
    }
    if (engine.events().on()) {
      engine.events().emit(new LeaseEvent.Lost(name, token, why));
    }
    told.forEach(engine::execute);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public long fencingToken() {
    return token;
  }

  @Override
  public String uniqueId() {
    return owner;
  }

  @Override
  public boolean isValid() {
    lock.lock();
    try {
      return state != State.ENDED && !isTaken() && !isOver();
    } finally {
      lock.unlock();
    }
  }

  private boolean isTaken() {
    return lossReason == LeaseEvent.LossReason.TAKEN || lossReason == LeaseEvent.LossReason.CLOSED;
  }

  @Override
  public Duration remaining() {
    lock.lock();
    try {
      if (state == State.ENDED || isTaken() || isOver()) {
        return Duration.ZERO;
      }
      return Duration.ofNanos(leftNanos());
    } finally {
      lock.unlock();
    }
  }

  private long leftNanos() {
    return Math.min(
        validUntilNanos - env.nanoTime(),
        (wallSentMillis + wallValidMillis - env.wallMillis()) * 1_000_000L);
  }

  @Override
  public ExtensionOutcome extend() {
    try {
      return extendAsync().get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PaddockInterruptedException(
          "interrupted while extending the lease " + name + "; it may be extended all the same", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("extending the lease " + name + " failed", e.getCause());
    }
  }

  @Override
  public CompletableFuture<ExtensionOutcome> extendAsync() {
    CompletableFuture<ExtensionOutcome> result = new CompletableFuture<>();
    send(leaseMillis, result::complete);
    return result;
  }

  @Override
  public void onLost(Runnable callback) {
    lock.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      if (state == State.HELD) {
        callbacks.add(callback);
        return;
      }
    } finally {
      lock.unlock();
    }
    engine.execute(callback);
  }

  @Override
  public LeaseOutcome release() {
    // The answer comes by its deadline at the latest; join() keeps an interrupt for later.
    return releaseAsync().join();
  }

  @Override
  public void close() {
    release();
  }

  @Override
  public CompletableFuture<LeaseOutcome> releaseAsync() {
    CompletableFuture<LeaseOutcome> result = new CompletableFuture<>();
    boolean taken;
    boolean over;
    long leftNanos;
    Runnable ended;
    lock.lock();
    try {
      if (ending != null) {
        return ending.copy();
      }
      ending = result;
      taken = isTaken();
      over = isOver();
      leftNanos = leftNanos();
      state = State.ENDED;
      cancelTimers();
      callbacks.clear();
      ended = watch;
      watch = null;
    } finally {
      lock.unlock();
    }
    if (ended != null) {
      ended.run();
    }
    if (taken) {
      end(result, LeaseOutcome.LOST, leftNanos);
    } else {
      engine.release(
          name,
          owner,
          leftNanos + engine.gateway().patienceMillis() * 1_000_000L,
          released ->
              end(
                  result,
                  over
                      ? LeaseOutcome.EXPIRED
                      : released == null
                          ? LeaseOutcome.UNKNOWN
                          : released
                              ? LeaseOutcome.RELEASED
                              : hasRunOut() ? LeaseOutcome.EXPIRED : LeaseOutcome.LOST,
                  leftNanos));
      engine.onReleasing(name);
    }
    return result.copy();
  }

  private boolean hasRunOut() {
    lock.lock();
    try {
      return isOver();
    } finally {
      lock.unlock();
    }
  }

  private void end(CompletableFuture<LeaseOutcome> result, LeaseOutcome outcome, long leftNanos) {
    engine.forget(this);
    if (engine.events().on()) {
      engine
          .events()
          .emit(
              new LeaseEvent.Ended(
                  name,
                  token,
                  outcome,
                  Duration.ofNanos(env.nanoTime() - acquiredNanos),
                  Duration.ofNanos(leftNanos)));
    }
    result.complete(outcome);
  }

  @Override
  public Optional<LeaseOutcome> outcome() {
    lock.lock();
    try {
      if (ending != null) {
        return Optional.ofNullable(ending.getNow(null));
      }
      if (isTaken()) {
        return Optional.of(LeaseOutcome.LOST);
      }
      return isOver() ? Optional.of(LeaseOutcome.EXPIRED) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  private void cancelTimers() {
    if (renewTimer != null) {
      renewTimer.cancel();
      renewTimer = null;
    }
    if (lossTimer != null) {
      lossTimer.cancel();
      lossTimer = null;
    }
  }

  @Override
  public String toString() {
    return "Lease[" + name + ", token " + token + "]";
  }
}
