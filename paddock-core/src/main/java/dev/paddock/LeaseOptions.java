/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import dev.paddock.internal.Limits;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How to acquire and hold a lease. Each method returns a copy with one thing changed. Immutable and
 * thread-safe: make them once and use them often.
 *
 * <p>{@code leaseTime} is how long a lease lasts without its holder saying anything, and so how
 * long others are kept out when the holder dies. {@code waitTime} is how long a caller waits to
 * become the holder. They have nothing to do with each other.
 */
public final class LeaseOptions {
  private static final LeaseOptions DEFAULTS =
      new LeaseOptions(Duration.ofSeconds(30), Duration.ZERO, null, false, null);

  private final Duration leaseTime;
  private final Duration waitTime;
  private final @Nullable Duration holdTimeMax;
  private final boolean interrupting;
  private final @Nullable Consumer<Lease> onLost;

  private LeaseOptions(
      Duration leaseTime,
      Duration waitTime,
      @Nullable Duration holdTimeMax,
      boolean interrupting,
      @Nullable Consumer<Lease> onLost) {
    this.leaseTime = leaseTime;
    this.waitTime = waitTime;
    this.holdTimeMax = holdTimeMax;
    this.interrupting = interrupting;
    this.onLost = onLost;
  }

  /**
   * Returns the options that everything starts from: 30 seconds of lease, no waiting, no renewal.
   *
   * @return the defaults
   */
  public static LeaseOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Sets how long the lease lasts unless it is extended.
   *
   * @param duration 1 ms to 1 day, and within the limits of the store; 30 seconds by default
   * @return a copy
   * @throws IllegalArgumentException if it is out of range
   */
  public LeaseOptions leaseTime(Duration duration) {
    return new LeaseOptions(
        Limits.span(duration, "leaseTime"), waitTime, holdTimeMax, interrupting, onLost);
  }

  /**
   * Sets how long to wait while another holds the lease. An attempt that is under way when the time
   * is up still decides, which takes the store's time-out at most.
   *
   * @param duration 0 (one attempt) to 1 day; 0 by default
   * @return a copy
   * @throws IllegalArgumentException if it is out of range
   */
  public LeaseOptions waitTime(Duration duration) {
    return new LeaseOptions(
        leaseTime, Limits.pause(duration, "waitTime"), holdTimeMax, interrupting, onLost);
  }

  /**
   * Renews the lease by itself, at a third of its time, for no longer than this: a worker that
   * hangs does not keep the lease for ever. After that it runs out and is told as lost.
   *
   * @param longest how long the lease is held at most, not shorter than {@code leaseTime} when it
   *     is used; 1 ms to 1 day
   * @return a copy
   * @throws IllegalArgumentException if it is out of range
   */
  public LeaseOptions renewFor(Duration longest) {
    return new LeaseOptions(
        leaseTime, waitTime, Limits.span(longest, "renewFor"), interrupting, onLost);
  }

  /**
   * Interrupts the thread that runs the work when the lease is lost; for {@link
   * LeaseLock#runIfAcquired} and its like, since a lease itself is bound to no thread. The
   * interrupt is told before the validity ends, see {@link Lease#onLost}, and does not outlive the
   * work.
   *
   * @return a copy
   */
  public LeaseOptions interruptOnLoss() {
    return new LeaseOptions(leaseTime, waitTime, holdTimeMax, true, onLost);
  }

  /**
   * Runs a callback when a lease acquired with these options is lost, see {@link Lease#onLost}.
   *
   * @param callback takes the lease, on the executor
   * @return a copy
   */
  public LeaseOptions onLost(Consumer<Lease> callback) {
    return new LeaseOptions(
        leaseTime, waitTime, holdTimeMax, interrupting, requireNonNull(callback, "callback"));
  }

  /**
   * Returns how long the lease lasts unless it is extended.
   *
   * @return the duration
   */
  public Duration leaseTime() {
    return leaseTime;
  }

  /**
   * Returns how long to wait while another holds the lease.
   *
   * @return the duration; zero for one attempt
   */
  public Duration waitTime() {
    return waitTime;
  }

  /**
   * Returns how long the lease is renewed at most.
   *
   * @return the duration; null for no renewal
   */
  public @Nullable Duration holdTimeMax() {
    return holdTimeMax;
  }

  /**
   * Tells whether the thread that runs the work is interrupted when the lease is lost.
   *
   * @return true if so
   */
  public boolean isInterruptOnLoss() {
    return interrupting;
  }

  /**
   * Returns what is run when the lease is lost.
   *
   * @return the callback; null for none
   */
  public @Nullable Consumer<Lease> onLost() {
    return onLost;
  }
}
