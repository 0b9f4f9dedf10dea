/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.CacheEvent.WaitEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The callers that share a flight: those that were there when the last command was sent or before
 * the load began ({@link #covered}), and those that came after ({@link #late}). Keeps how long each
 * has waited, and wakes each when its {@code maxWait} is over.
 *
 * <p>Touched only in the turns of the flight it belongs to.
 */
final class Callers<K, V> {
  private final Engine engine;
  private final String cache;
  private final Consumer<Runnable> turn;
  private final Consumer<Call<K, V>> onMaxWait;
  private final List<Call<K, V>> covered = new ArrayList<>();
  private final List<Call<K, V>> late = new ArrayList<>();

  /**
   * Makes an empty set.
   *
   * @param turn runs a task in a turn of the flight
   * @param onMaxWait takes a caller, which has been removed, whose time is over; called in a turn
   */
  Callers(Engine engine, String cache, Consumer<Runnable> turn, Consumer<Call<K, V>> onMaxWait) {
    this.engine = engine;
    this.cache = cache;
    this.turn = turn;
    this.onMaxWait = onMaxWait;
  }

  void addLate(Call<K, V> call) {
    late.add(call);
  }

  /** From now on what is sent or loaded is younger than all calls made so far. */
  void coverAll() {
    covered.addAll(late);
    late.clear();
  }

  boolean isEmpty() {
    return covered.isEmpty() && late.isEmpty();
  }

  /** A copy, in the order of arrival. */
  List<Call<K, V>> covered() {
    return List.copyOf(covered);
  }

  /** A copy, in the order of arrival. */
  List<Call<K, V>> late() {
    return List.copyOf(late);
  }

  /** A copy of all, in the order of arrival. */
  List<Call<K, V>> all() {
    List<Call<K, V>> all = new ArrayList<>(covered);
    all.addAll(late);
    return all;
  }

  boolean remove(Call<K, V> call) {
    return covered.remove(call) || late.remove(call);
  }

  void clear() {
    covered.clear();
    late.clear();
  }

  /** Forgets callers that have left by themselves. */
  void prune() {
    for (Call<K, V> call : all()) {
      if (call.isGone()) {
        remove(call);
        endWait(call, WaitEnd.CANCELLED);
      }
    }
  }

  /** Starts the clocks of those who wait for the load of another, all but the one that loads. */
  void startWaits(@Nullable Call<K, V> leader) {
    for (Call<K, V> call : all()) {
      if (call != leader) {
        startWait(call);
      }
    }
  }

  /**
   * Starts a caller's clock, unless it runs. Its {@code maxWait} counts from the start of its call.
   */
  void startWait(Call<K, V> call) {
    if (call.waitingSinceNanos != Call.NOT_WAITING) {
      return;
    }
    call.waits();
    long now = engine.env().nanoTime();
    call.waitingSinceNanos = now;
    long left = call.options.maxWait().toNanos() - (now - call.startNanos);
    // Even with no time left in a turn of its own: nobody is removed while a list is gone through.
    call.timer = engine.env().schedule(() -> turn.accept(() -> expire(call)), left);
  }

  /** Whether somebody has waited for at least half of its {@code maxWait}. */
  boolean someHasWaitedHalf() {
    long now = engine.env().nanoTime();
    return all().stream()
        .anyMatch(call -> now - call.startNanos >= call.options.maxWait().toNanos() / 2);
  }

  private void expire(Call<K, V> call) {
    if (call.waitingSinceNanos != Call.NOT_WAITING && remove(call)) {
      endWait(call, WaitEnd.TIMED_OUT);
      onMaxWait.accept(call);
    }
  }

  /**
   * Starts the clock of a load time-out: after that time the caller leaves, if it is still there. A
   * caller has one at a time.
   */
  void startLoadTimer(Call<K, V> call, long nanos, Consumer<Call<K, V>> onTimeout) {
    cancelLoadTimer(call);
    call.loadTimer =
        engine
            .env()
            .schedule(
                () ->
                    turn.accept(
                        () -> {
                          if (covered.contains(call) || late.contains(call)) {
                            onTimeout.accept(call);
                          }
                        }),
                nanos);
  }

  private static void cancelLoadTimer(Call<?, ?> call) {
    if (call.loadTimer != null) {
      call.loadTimer.cancel();
      call.loadTimer = null;
    }
  }

  /** Stops a caller's clocks. */
  void endWait(Call<K, V> call, WaitEnd end) {
    cancelLoadTimer(call);
    if (call.timer != null) {
      call.timer.cancel();
      call.timer = null;
    }
    if (call.waitingSinceNanos == Call.NOT_WAITING) {
      return;
    }
    long nanos = engine.env().nanoTime() - call.waitingSinceNanos;
    call.waitingSinceNanos = Call.NOT_WAITING;
    if (engine.events().on()) {
      engine
          .events()
          .emit(
              new CacheEvent.WaitEnded(
                  cache, call.storeKey.toString(), Duration.ofNanos(nanos), end));
    }
  }
}
