/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.LeaseOptions;
import dev.paddock.PaddockClosedException;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseRequest;
import java.util.ArrayDeque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The callers of this process who wait for one lease. */
final class LeaseQueue {
  /*
   * One attempt at a time, for the caller who came first: whatever the number of callers, a process is
   * one contender. Between attempts the queue waits for a hint, and underneath for the end of the
   * holder's lease or the next poll, whichever is earlier. The first hint subscription is followed by an
   * attempt, since the lease may have become free before the store knew whom to tell.
   *
   * Who joins while an attempt is under way was not announced by it. If it is granted, nobody would hint
   * when that lease ends, so the next attempt follows at once there too: to be refused, and announced.
   *
   * A hint that arrives while an attempt is under way may be newer than a refusal: then the next attempt
   * follows at once. A grant is newer than any hint, since nobody has released that lease yet.
   *
   * Where the store keeps to the order, a lease that a caller of this process gives back goes to the next
   * of its callers without waiting for the answer or the hint, but only a few times in a row: then other
   * processes come first. The last caller is left to the hint, since the queue rests when he has gone,
   * and those who come a moment later would have to announce themselves anew.
   *
   * All fields change in turns. Nothing of the user's runs in one: results are handed to futures that
   * either a blocked thread or the executor waits for.
   */
  private static final long POLL_MILLIS = 1_000;
  private static final long BLIND_POLL_MILLIS = 50;
  private static final long JITTER_MILLIS = 5;
  private static final int PASSES = 2;

  private final LeaseEngine engine;
  private final String name;
  private final Serial turns;
  private final ArrayDeque<LeaseWaiter> waiters = new ArrayDeque<>();
  private @Nullable LeaseWaiter attemptFor;
  private boolean othersAnnounced;
  private boolean again;
  private int passes;
  private boolean passing;
  private @Nullable HintSubscription subscription;
  private boolean hinted;
  private Environment.@Nullable Timer poll;
  private @Nullable StoreException lastError;

  /** How many callers use it; changed under the engine's map only. */
  int users;

  LeaseQueue(LeaseEngine engine, String name) {
    this.engine = engine;
    this.name = name;
    this.turns = new Serial(engine::onFailure);
  }

  String name() {
    return name;
  }

  void add(LeaseWaiter waiter) {
    turns.execute(
        () -> {
          if (engine.isClosed()) {
            waiter.fail(closed());
            engine.leave(this);
            return;
          }
          waiters.add(waiter);
          waiter.timer =
              engine.schedule(
                  () -> turns.execute(() -> onTimeUp(waiter)),
                  Limits.millisRoundedUp(waiter.options.waitTime()) * 1_000_000L);
          if (attemptFor == null && waiters.size() == 1) {
            attempt();
          }
        });
  }

  /** Takes out a caller who has gone. */
  void remove(LeaseWaiter waiter) {
    turns.execute(
        () -> {
          if (waiters.contains(waiter)) {
            leave(waiter);
            rest();
          }
        });
  }

  /** Ends all waits. */
  void close() {
    turns.execute(
        () -> {
          while (!waiters.isEmpty()) {
            LeaseWaiter waiter = waiters.getFirst();
            leave(waiter);
            waiter.fail(closed());
          }
          rest();
        });
  }

  private PaddockClosedException closed() {
    return new PaddockClosedException("closed while waiting for the lease " + name);
  }

  private void leave(LeaseWaiter waiter) {
    waiters.remove(waiter);
    if (waiter.timer != null) {
      waiter.timer.cancel();
    }
    engine.leave(this);
  }

  /** Leaves nothing behind once nobody waits. */
  private void rest() {
    if (!waiters.isEmpty()) {
      return;
    }
    again = false;
    cancelPoll();
    if (subscription != null) {
      subscription.close();
      subscription = null;
      hinted = false;
    }
  }

  private void attempt() {
    cancelPoll();
    LeaseWaiter head = waiters.peekFirst();
    if (head == null) {
      rest();
      return;
    }
    again = false;
    attemptFor = head;
    othersAnnounced = waiters.size() > 1;
    engine.attempt(
        name,
        head.options,
        othersAnnounced ? LeaseRequest.Waiting.OTHERS : LeaseRequest.Waiting.REQUESTER,
        (answer, error) -> turns.execute(() -> onAnswer(head, answer, error)));
  }

  private void onAnswer(
      LeaseWaiter waiter, LeaseEngine.@Nullable Answer answer, @Nullable StoreException error) {
    attemptFor = null;
    lastError = error;
    long leftMillis;
    if (answer instanceof LeaseEngine.Grant grant) {
      HeldLease lease = engine.hold(grant, waiter.options);
      if (waiters.contains(waiter)) {
        leave(waiter);
      }
      if (!waiter.offer(lease)) {
        LeaseEngine.giveBack(lease);
      }
      leftMillis = grant.validMillis();
      passes = passing ? passes + 1 : 0;
      // A subscription that is still to be made is followed by an attempt anyway.
      again = !othersAnnounced && subscription != null;
    } else {
      if (waiter.timeUp && waiters.contains(waiter)) {
        giveUp(waiter);
      }
      leftMillis = answer instanceof LeaseEngine.Refusal refusal ? refusal.leftMillis() : 0;
    }
    passing = false;
    if (waiters.isEmpty()) {
      rest();
    } else if (again) {
      attempt();
    } else {
      subscribe();
      schedule(leftMillis);
    }
  }

  private void subscribe() {
    if (subscription != null) {
      return;
    }
    HintSubscription made = engine.store().subscribe(name, () -> turns.execute(this::onHint));
    subscription = made;
    made.ready()
        .whenComplete(
            (ready, error) ->
                turns.execute(
                    () -> {
                      if (subscription == made && Boolean.TRUE.equals(ready)) {
                        hinted = true;
                        onHint();
                      }
                    }));
  }

  /** A caller of this process is giving the lease back. */
  void onReleasing() {
    turns.execute(
        () -> {
          if (attemptFor == null && waiters.size() > 1 && passes < PASSES) {
            passing = true;
            attempt();
          }
        });
  }

  private void onHint() {
    if (attemptFor != null) {
      again = true;
    } else if (!waiters.isEmpty()) {
      attempt();
    }
  }

  /** Polls at the latest when the holder's lease must have run out. */
  private void schedule(long leftMillis) {
    if (attemptFor != null) {
      return;
    }
    cancelPoll();
    long limit =
        hinted
            ? POLL_MILLIS + (long) (POLL_MILLIS * engine.randomUnit() / 2)
            : BLIND_POLL_MILLIS + (long) (2 * BLIND_POLL_MILLIS * engine.randomUnit());
    long millis =
        leftMillis <= 0
            ? limit
            : Math.min(limit, leftMillis + (long) (JITTER_MILLIS * engine.randomUnit()));
    poll = engine.schedule(() -> turns.execute(this::onPoll), millis * 1_000_000L);
  }

  private void onPoll() {
    if (attemptFor == null) {
      attempt();
    }
  }

  private void cancelPoll() {
    if (poll != null) {
      poll.cancel();
      poll = null;
    }
  }

  private void onTimeUp(LeaseWaiter waiter) {
    if (attemptFor == waiter) {
      // The attempt decides.
      waiter.timeUp = true;
    } else if (waiters.contains(waiter)) {
      giveUp(waiter);
      rest();
    }
  }

  private void giveUp(LeaseWaiter waiter) {
    leave(waiter);
    if (lastError != null) {
      waiter.fail(lastError);
    } else {
      waiter.refuse();
    }
  }

  /** How a caller's wait ends. */
  static final class LeaseWaiter {
    final LeaseOptions options;
    final LeaseEngine.Result result;
    Environment.@Nullable Timer timer;
    boolean timeUp;

    LeaseWaiter(LeaseOptions options, LeaseEngine.Result result) {
      this.options = options;
      this.result = result;
    }

    boolean offer(HeldLease lease) {
      return result.complete(Optional.of(lease));
    }

    void refuse() {
      result.complete(Optional.empty());
    }

    void fail(RuntimeException error) {
      result.completeExceptionally(error);
    }
  }
}
