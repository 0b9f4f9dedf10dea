/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Hints from all servers, passed on once for each release: when a majority has sent one, or a few
 * milliseconds after the first if fewer do (those on which nobody had said that he waits send
 * none). Waiters of several processes get the same hint at the same moment, so each is passed on
 * after a short random pause: those who ask at the same time take the votes from each other.
 */
final class RedlockHints implements HintSubscription {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
  private static final long MINORITY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final RedlockGroup group;
  private final Runnable onHint;
  private final Turns turns = new Turns();
  private final List<HintSubscription> subscriptions = new ArrayList<>();
  private final CompletableFuture<Boolean> ready = new CompletableFuture<>();

  // In turns only: how many hints each server has sent, and how many were passed on.
  private final long[] counts;
  private long passedOn;
  private Environment.@Nullable Timer timer;
  private boolean minority;
  private boolean closed;
  private int readyServers;
  private int deafServers;

  private RedlockHints(RedlockGroup group, Runnable onHint) {
    this.group = group;
    this.onHint = onHint;
    this.counts = new long[group.size()];
  }

  static HintSubscription subscribe(RedlockGroup group, String name, Runnable onHint) {
    RedlockHints hints = new RedlockHints(group, onHint);
    byte[] channel = RedlockKeys.of(name)[0];
    hints.turns.execute(() -> hints.start(channel));
    return hints;
  }

  private void start(byte[] channel) {
    for (RedlockServer server : group.servers()) {
      HintSubscription subscription =
          server
              .transport()
              .subscribe(channel, message -> turns.execute(() -> hinted(server.index())));
      subscriptions.add(subscription);
      subscription
          .ready()
          .whenComplete(
              (ok, error) ->
                  turns.execute(() -> answered(error == null && Boolean.TRUE.equals(ok))));
    }
  }

  private void answered(boolean ok) {
    if (ok) {
      readyServers++;
    } else {
      deafServers++;
    }
    if (readyServers >= group.majority()) {
      ready.complete(true);
    } else if (group.size() - deafServers < group.majority()) {
      ready.complete(false);
    }
  }

  private void hinted(int server) {
    if (closed) {
      return;
    }
    counts[server]++;
    if (counts[server] <= passedOn) {
      // A straggler of a release that was passed on.
      return;
    }
    long[] sorted = counts.clone();
    Arrays.sort(sorted);
    boolean majority = sorted[sorted.length - group.majority()] > passedOn;
    if (majority && (timer == null || minority)) {
      passOnAfter((long) (PAUSE_NANOS * group.randomUnit()), false);
    } else if (timer == null) {
      passOnAfter(MINORITY_NANOS / 2 + (long) (MINORITY_NANOS * group.randomUnit()), true);
    }
  }

  private void passOnAfter(long nanos, boolean onlyMinority) {
    if (timer != null) {
      timer.cancel();
    }
    minority = onlyMinority;
    timer = group.schedule(() -> turns.execute(this::passOn), nanos);
  }

  private void passOn() {
    timer = null;
    if (closed) {
      return;
    }
    passedOn = Arrays.stream(counts).max().orElse(0);
    // Servers that sent none of those that are passed on must not lag behind for ever.
    for (int i = 0; i < counts.length; i++) {
      counts[i] = Math.max(counts[i], passedOn - 1);
    }
    onHint.run();
  }

  @Override
  public CompletionStage<Boolean> ready() {
    return ready.minimalCompletionStage();
  }

  @Override
  public void close() {
    turns.execute(
        () -> {
          if (closed) {
            return;
          }
          closed = true;
          if (timer != null) {
            timer.cancel();
          }
          subscriptions.forEach(HintSubscription::close);
          ready.complete(false);
        });
  }
}
