/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import dev.paddock.internal.Limits;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Options of one call. They start from the cache's own, see {@link Cache#options()}; each method
 * returns a copy with one thing changed. Immutable and thread-safe: make them once and use them
 * often.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class CallOptions<K, V> {
  private final Duration maxWait;
  private final Otherwise<K, V> otherwise;
  private final boolean staleAllowed;
  private final @Nullable Duration timeToLive;
  private final boolean missExpected;
  private final boolean bypassed;
  private final List<String> tags;

  /**
   * Returns the options that a cache's calls have unless told otherwise.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param configuration the cache's settings
   * @return its defaults
   */
  public static <K, V> CallOptions<K, V> of(CacheConfiguration<K, V> configuration) {
    return new CallOptions<>(
        configuration.maxWait(),
        configuration.otherwise(),
        configuration.staleAllowed(),
        null,
        false,
        false,
        List.of());
  }

  private CallOptions(
      Duration maxWait,
      Otherwise<K, V> otherwise,
      boolean staleAllowed,
      @Nullable Duration timeToLive,
      boolean missExpected,
      boolean bypassed,
      List<String> tags) {
    this.maxWait = maxWait;
    this.otherwise = otherwise;
    this.staleAllowed = staleAllowed;
    this.timeToLive = timeToLive;
    this.missExpected = missExpected;
    this.bypassed = bypassed;
    this.tags = tags;
  }

  /**
   * Sets how long this call waits for the load of another.
   *
   * @param duration 0 (not at all) to 1 day
   * @return a copy
   * @throws IllegalArgumentException if it is out of range
   */
  public CallOptions<K, V> maxWait(Duration duration) {
    return new CallOptions<>(
        Limits.maxWait(duration),
        otherwise,
        staleAllowed,
        timeToLive,
        missExpected,
        bypassed,
        tags);
  }

  /**
   * Sets what this call gets when waiting did not help.
   *
   * @param choice the choice
   * @return a copy
   */
  public CallOptions<K, V> otherwise(Otherwise<K, V> choice) {
    return new CallOptions<>(
        maxWait,
        requireNonNull(choice, "choice"),
        staleAllowed,
        timeToLive,
        missExpected,
        bypassed,
        tags);
  }

  /**
   * Accepts a stale value.
   *
   * @return a copy
   */
  public CallOptions<K, V> allowStale() {
    return new CallOptions<>(maxWait, otherwise, true, timeToLive, missExpected, bypassed, tags);
  }

  /**
   * Accepts fresh values only, and none from the near cache.
   *
   * @return a copy
   */
  public CallOptions<K, V> alwaysFresh() {
    return new CallOptions<>(maxWait, otherwise, false, timeToLive, missExpected, bypassed, tags);
  }

  /**
   * Sets the soft TTL of the value that this call stores, if it stores one.
   *
   * @param duration 1 ms to 10 years
   * @return a copy
   * @throws IllegalArgumentException if it is out of range
   */
  public CallOptions<K, V> timeToLive(Duration duration) {
    return new CallOptions<>(
        maxWait,
        otherwise,
        staleAllowed,
        Limits.timeToLive(duration, "timeToLive"),
        missExpected,
        bypassed,
        tags);
  }

  /**
   * Says that this key is probably not cached: the first read is left out, which saves one round
   * trip on a miss and costs a script call on a hit.
   *
   * @return a copy
   */
  public CallOptions<K, V> expectMiss() {
    return new CallOptions<>(maxWait, otherwise, staleAllowed, timeToLive, true, bypassed, tags);
  }

  /**
   * Goes straight to the loader: nothing is read or stored.
   *
   * @return a copy
   */
  public CallOptions<K, V> bypass() {
    return new CallOptions<>(
        maxWait, otherwise, staleAllowed, timeToLive, missExpected, true, tags);
  }

  /**
   * Gives the value that this call stores tags, besides those that its loader sets.
   *
   * @param names up to 16, each 1 to 255 bytes of UTF-8; they take the place of any set before
   * @return a copy
   * @throws IllegalArgumentException if a tag is empty or too long, or there are too many
   */
  public CallOptions<K, V> tags(String... names) {
    return new CallOptions<>(
        maxWait,
        otherwise,
        staleAllowed,
        timeToLive,
        missExpected,
        bypassed,
        Limits.tags(List.of(), names));
  }

  /**
   * Returns how long the call waits for the load of another.
   *
   * @return the duration
   */
  public Duration maxWait() {
    return maxWait;
  }

  /**
   * Returns what the call gets when waiting did not help.
   *
   * @return the choice
   */
  public Otherwise<K, V> otherwise() {
    return otherwise;
  }

  /**
   * Tells whether a stale value will do.
   *
   * @return true if so
   */
  public boolean isStaleAllowed() {
    return staleAllowed;
  }

  /**
   * Returns the soft TTL of the value that this call stores.
   *
   * @return the duration; null for the cache's own
   */
  public @Nullable Duration timeToLive() {
    return timeToLive;
  }

  /**
   * Tells whether the first read is left out.
   *
   * @return true if so
   */
  public boolean isMissExpected() {
    return missExpected;
  }

  /**
   * Tells whether the call goes straight to its loader.
   *
   * @return true if so
   */
  public boolean isBypassed() {
    return bypassed;
  }

  /**
   * Returns the tags of the value that this call stores.
   *
   * @return unmodifiable; empty for none
   */
  public List<String> tags() {
    return tags;
  }
}
