/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The circumstances of one load, and how its result is to be stored. It belongs to one run of one
 * loader; what is set after the loader has returned has no effect. Thread-safe.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public interface LoadContext<K, V> {

  /**
   * Returns the key that is being loaded.
   *
   * @return the key
   */
  K key();

  /**
   * Returns the stale value that this load replaces, for a conditional request for example.
   *
   * @return the value; null if there is none at hand or it is a negative entry
   */
  @Nullable V staleValue();

  /**
   * Tells whether the load runs under a lease, so that no other process loads the key as well.
   *
   * @return false while the store is out of reach, in a hold-off, for a degraded load, and when the
   *     cache is switched off
   */
  boolean isLeased();

  /**
   * Tells whether the lease has been lost: it ran out, or the key was invalidated. Worked out from
   * the clock, so it is true at the first call after the end of the lease, also after a pause. The
   * load may go on: its value is stored unless something newer has happened.
   *
   * @return true if the lease that this load began under may be another's by now; false if it began
   *     without one
   */
  boolean isLeaseLost();

  /**
   * Runs a callback when the lease is lost while the load runs, on the executor. It runs at once if
   * the lease is lost already, and never if the load ends before or began without a lease. Told
   * before the lease ends unless this process itself was stopped.
   *
   * @param callback what to run; what it throws is ignored
   */
  void onLeaseLost(Runnable callback);

  /**
   * Sets the soft TTL of this value alone.
   *
   * @param timeToLive 1 ms to 10 years; jitter applies to it as to any other
   * @throws IllegalArgumentException if it is out of range
   */
  void timeToLive(Duration timeToLive);

  /**
   * Shortens how long this value alone is kept past its soft TTL, to be served stale or when loads
   * fail.
   *
   * @param duration 0 to what the cache keeps values for, {@link CacheBuilder#serveStaleFor} or
   *     {@link CacheBuilder#failSafeFor}, whichever is longer
   * @throws IllegalArgumentException if it is out of range
   */
  void serveStaleFor(Duration duration);

  /**
   * Keeps {@link #staleValue()}, because the source says that it has not changed (by an ETag or a
   * date of modification that is part of the value, for example), and renews its TTL. What the
   * loader returns is ignored.
   *
   * @throws IllegalStateException if there is no stale value
   */
  void notModified();

  /**
   * Sets for how long nobody in the fleet starts the next load if this one fails.
   *
   * @param duration 0 (no pause) to 1 day; {@link CacheBuilder#coolDown} by default
   * @throws IllegalArgumentException if it is out of range
   */
  void coolDown(Duration duration);

  /**
   * Gives this value tags, under which it can be invalidated together with others. Those of the
   * call's options count as well. What is called again adds to them.
   *
   * @param tags up to 16, each 1 to 255 bytes of UTF-8
   * @throws IllegalStateException if the cache was built without {@link CacheBuilder#tagLag}
   * @throws IllegalArgumentException if a tag is empty or too long, or there are too many
   */
  void tags(String... tags);

  /** Returns the value to its callers without storing it. */
  void skipCaching();

  /**
   * Marks the key as absent in the source: callers get null and a negative entry is stored,
   * whatever the loader returns.
   */
  void markAbsent();
}
