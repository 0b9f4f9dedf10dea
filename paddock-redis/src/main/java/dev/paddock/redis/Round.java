/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import java.util.Arrays;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The same request to several servers at once. Each server's answer arrives in a turn, exactly
 * once: its reply, its failure, or that its time is up. What comes after that, or after the end of
 * the round, is told apart.
 */
final class Round<T> {
  /** Takes the answers, in turns. */
  interface Taker<T> {
    /** Takes a server's answer: either a reply or an error. */
    void answered(RedlockServer server, @Nullable T reply, @Nullable StoreException error);

    /** Takes a reply for which nobody waited any more. */
    default void late(RedlockServer server, T reply) {}
  }

  private final Turns turns;
  private final Environment environment;
  private final Collection<RedlockServer> servers;
  private final long timeoutNanos;
  private final Function<RedlockServer, CompletionStage<T>> send;
  private final Taker<T> taker;
  private final boolean[] open;
  private Environment.@Nullable Timer timer;
  private boolean ended;

  Round(
      Turns turns,
      Environment environment,
      Collection<RedlockServer> servers,
      int serversMax,
      long timeoutNanos,
      Function<RedlockServer, CompletionStage<T>> send,
      Taker<T> taker) {
    this.turns = turns;
    this.environment = environment;
    this.servers = servers;
    this.timeoutNanos = timeoutNanos;
    this.send = send;
    this.taker = taker;
    this.open = new boolean[serversMax];
  }

  /** Sends; in a turn, so that no answer arrives before all requests are on their way. */
  void start() {
    for (RedlockServer server : servers) {
      open[server.index()] = true;
    }
    try {
      timer = environment.schedule(() -> turns.execute(this::timeIsUp), Math.max(0, timeoutNanos));
    } catch (RejectedExecutionException e) {
      // The environment is closing, and the store with it, which ends the connections.
      timer = null;
    }
    for (RedlockServer server : servers) {
      CompletionStage<T> stage;
      try {
        stage = send.apply(server);
      } catch (RuntimeException e) {
        stage = CompletableFuture.failedFuture(e);
      }
      stage.whenComplete((reply, error) -> turns.execute(() -> take(server, reply, error)));
    }
  }

  private void take(RedlockServer server, @Nullable T reply, @Nullable Throwable error) {
    if (ended || !open[server.index()]) {
      if (reply != null) {
        taker.late(server, reply);
      }
      return;
    }
    open[server.index()] = false;
    taker.answered(
        server,
        reply,
        error == null ? null : Failures.of("a request", server, Failures.unwrap(error)));
  }

  private void timeIsUp() {
    for (RedlockServer server : servers) {
      if (!ended && open[server.index()]) {
        open[server.index()] = false;
        taker.answered(
            server,
            null,
            new StoreException(
                "no answer within " + TimeUnit.NANOSECONDS.toMillis(timeoutNanos) + " ms",
                null,
                true));
      }
    }
  }

  boolean isOpen(RedlockServer server) {
    return !ended && open[server.index()];
  }

  /** Waits for nobody any more. */
  void end() {
    ended = true;
    Arrays.fill(open, false);
    if (timer != null) {
      timer.cancel();
    }
  }
}
