/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Watches a key that another process is loading, and says when to look at it again.
 *
 * <p>A hint from the store is the quick way, and no more than a hint: it may be lost. So there are
 * jittered polls underneath, and a look just after the holder's lease must have run out. What
 * happened before the subscription was in force sent no hint, so the key is looked at once more
 * when it is.
 *
 * <p>Touched only in the turns of the flight it belongs to.
 */
final class HolderWatch {
  private static final long FIRST_POLL_NANOS = 50_000_000L;
  private static final long HINTED_POLL_NANOS = 500_000_000L;
  private static final long MAX_POLL_NANOS = 1_000_000_000L;
  private static final long TAKEOVER_SPREAD_NANOS = 20_000_000L;

  private final Engine engine;
  private final StoreKey key;
  private final Consumer<Runnable> turn;
  private final Runnable look;
  private final Predicate<StoredEntry> take;

  private boolean waiting;
  private boolean hinted;
  private @Nullable StoredEntry news;
  private @Nullable HintSubscription subscription;
  private long pollNanos = FIRST_POLL_NANOS;
  private Environment.@Nullable Timer timer;

  /**
   * Makes a watch that does nothing yet.
   *
   * @param turn runs a task in a turn of the flight
   * @param look looks at the key again; called in a turn
   * @param take uses the value that came with a hint, or says that it can't; called in a turn
   */
  HolderWatch(
      Engine engine,
      StoreKey key,
      Consumer<Runnable> turn,
      Runnable look,
      Predicate<StoredEntry> take) {
    this.engine = engine;
    this.key = key;
    this.turn = turn;
    this.look = look;
    this.take = take;
  }

  /** A look is on its way: a hint that comes from now on may be news that it misses. */
  void looking() {
    waiting = false;
    hinted = false;
    news = null;
    cancelTimer();
  }

  /**
   * Waits for the next look.
   *
   * @param leftNanos until when the holder's lease has run out
   */
  void waitFor(long leftNanos) {
    waiting = true;
    if (hinted) {
      follow(news);
      return;
    }
    if (subscription == null) {
      HintSubscription mine =
          engine.gateway().store().subscribe(key, entry -> turn.accept(() -> onHint(entry)));
      subscription = mine;
      mine.ready().whenComplete((ready, error) -> turn.accept(() -> onReady(mine, ready)));
    }
    long poll = (long) (pollNanos * (0.75 + 0.5 * engine.randomUnit()));
    pollNanos = Math.min(pollNanos * 2, MAX_POLL_NANOS);
    // Spread, so that not every waiting process asks at the same moment.
    long takeover = leftNanos + 1_000_000L + (long) (TAKEOVER_SPREAD_NANOS * engine.randomUnit());
    cancelTimer();
    timer = engine.env().schedule(() -> turn.accept(this::onTimer), Math.min(poll, takeover));
  }

  private void onTimer() {
    if (waiting) {
      look.run();
    }
  }

  private void onHint(@Nullable StoredEntry entry) {
    if (waiting) {
      follow(entry);
    } else {
      hinted = true;
      news = entry == null ? news : entry;
    }
  }

  private void follow(@Nullable StoredEntry entry) {
    if (entry == null || !take.test(entry)) {
      look.run();
    }
  }

  // The very subscription: news of one that has been closed is of no use.
  @SuppressWarnings("ReferenceEquality")
  private void onReady(HintSubscription of, @Nullable Boolean ready) {
    if (of == subscription && Boolean.TRUE.equals(ready)) {
      pollNanos = HINTED_POLL_NANOS;
      onHint(null);
    }
  }

  /** Stops watching. Idempotent; a new wait may follow. */
  void close() {
    looking();
    if (subscription != null) {
      subscription.close();
      subscription = null;
    }
    pollNanos = FIRST_POLL_NANOS;
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }
}
