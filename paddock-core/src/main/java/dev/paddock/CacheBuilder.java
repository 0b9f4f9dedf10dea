/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import dev.paddock.internal.Limits;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Makes one {@link Cache}. Each option is checked when it is set and can be set once; options that
 * contradict each other are refused by {@link #build()}, never silently changed. Not thread-safe.
 *
 * @param <K> the widest type that the keys can have: {@code Object} until an option or the variable
 *     that takes the cache narrows it
 * @param <V> the type of the values
 */
public final class CacheBuilder<K, V> {
  private final String name;
  private final Codec<V> codec;
  private final Function<CacheConfiguration<K, V>, Cache<K, V>> open;
  private @Nullable KeyFormat<? super K> keyFormat;
  private @Nullable Loader<K, V> loader;
  private @Nullable Otherwise<K, V> otherwise;
  private @Nullable Boolean alwaysFresh;
  private @Nullable Boolean enabled;
  private @Nullable Duration timeToLive;
  private @Nullable Duration serveStaleFor;
  private @Nullable Double jitter;
  private @Nullable Duration negativeTimeToLive;
  private @Nullable Duration maxWait;
  private @Nullable Duration leaseTime;
  private @Nullable Duration leaseFloor;
  private @Nullable Duration leaseCap;
  private @Nullable Boolean renewal;
  private @Nullable Duration maxLoadTime;
  private @Nullable Duration coolDown;
  private @Nullable Duration holdOff;
  private @Nullable String keyPrefix;
  private @Nullable Integer compressAbove;
  private @Nullable Integer maxValueBytes;

  CacheBuilder(String name, Codec<V> codec, Function<CacheConfiguration<K, V>, Cache<K, V>> open) {
    this.name = name;
    this.codec = codec;
    this.open = open;
  }

  private static <T> T once(String option, @Nullable T before, T value) {
    if (before != null) {
      throw new IllegalStateException(
          option + " was set to " + before + " before; set it once (now: " + value + ")");
    }
    return value;
  }

  /**
   * Sets the loader of {@link Cache#get(Object)} and {@link Cache#refresh(Object)}.
   *
   * @param <K1> the type of the keys from here on
   * @param function computes a value
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public <K1 extends K> CacheBuilder<K1, V> loader(KeyLoader<? super K1, ? extends V> function) {
    return loader(Loader.<K1, V>of(function));
  }

  /**
   * Sets the loader of {@link Cache#get(Object)} and {@link Cache#refresh(Object)}.
   *
   * @param <K1> the type of the keys from here on
   * @param function computes a value
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public <K1 extends K> CacheBuilder<K1, V> loader(Loader<K1, V> function) {
    CacheBuilder<K1, V> narrowed = narrowed();
    narrowed.loader = once("loader", narrowed.loader, requireNonNull(function, "function"));
    return narrowed;
  }

  /**
   * Sets how keys become bytes; {@link KeyFormats#standard()} by default.
   *
   * @param <K1> the type of the keys from here on
   * @param format the format
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public <K1 extends K> CacheBuilder<K1, V> keyFormat(KeyFormat<? super K1> format) {
    CacheBuilder<K1, V> narrowed = narrowed();
    narrowed.keyFormat =
        CacheBuilder.<KeyFormat<? super K1>>once(
            "keyFormat", narrowed.keyFormat, requireNonNull(format, "format"));
    return narrowed;
  }

  /**
   * Sets what a caller gets when waiting did not help; {@link Otherwise#fail()} by default.
   *
   * @param <K1> the type of the keys from here on
   * @param choice the choice
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public <K1 extends K> CacheBuilder<K1, V> otherwise(Otherwise<K1, V> choice) {
    CacheBuilder<K1, V> narrowed = narrowed();
    narrowed.otherwise = once("otherwise", narrowed.otherwise, requireNonNull(choice, "choice"));
    return narrowed;
  }

  /**
   * Makes callers wait for a fresh value although stale ones are kept ({@link #serveStaleFor}); a
   * call can still say that a stale one will do. By default a kept stale value is served.
   *
   * @return this
   * @throws IllegalStateException if it was called before
   */
  public CacheBuilder<K, V> alwaysFresh() {
    alwaysFresh = once("alwaysFresh", alwaysFresh, Boolean.TRUE);
    return this;
  }

  /**
   * Sets whether the cache is switched on at first, see {@link Cache#setEnabled}; true by default.
   *
   * @param on whether it is on
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> enabled(boolean on) {
    enabled = once("enabled", enabled, on);
    return this;
  }

  /**
   * Sets how long a value is fresh (soft TTL), before jitter.
   *
   * @param duration 1 ms to 10 years; 5 minutes by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> timeToLive(Duration duration) {
    timeToLive = once("timeToLive", timeToLive, Limits.timeToLive(duration, "timeToLive"));
    return this;
  }

  /**
   * Sets how long a value is kept past its soft TTL. In that time callers get it at once, stale,
   * while one load in the fleet refreshes it.
   *
   * @param duration 0 to 10 years; 0 by default: values are never stale
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> serveStaleFor(Duration duration) {
    serveStaleFor = once("serveStaleFor", serveStaleFor, Limits.window(duration, "serveStaleFor"));
    return this;
  }

  /**
   * Sets by how much a TTL is shortened at most, each time by another random part, so that values
   * stored together do not expire together.
   *
   * @param part 0 to 0.5, as a part of the TTL; 0.1 by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> jitter(double part) {
    jitter = once("jitter", jitter, checkedJitter(part));
    return this;
  }

  /**
   * Sets how long the knowledge is kept that the source has no value. Negative entries are never
   * served stale.
   *
   * @param duration 0 (not at all) to 10 years; by default 30 seconds or the soft TTL, whichever is
   *     shorter
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> negativeTimeToLive(Duration duration) {
    negativeTimeToLive =
        once(
            "negativeTimeToLive",
            negativeTimeToLive,
            Limits.window(duration, "negativeTimeToLive"));
    return this;
  }

  /**
   * Sets how long a caller waits for the load of another caller or process. The caller whose loader
   * runs is bounded by {@link #maxLoadTime} instead.
   *
   * @param duration 0 (not at all) to 1 day; 5 seconds by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxWait(Duration duration) {
    maxWait = once("maxWait", maxWait, Limits.maxWait(duration));
    return this;
  }

  /**
   * Sets the length of the fill lease. It should be well above a usual load time; renewal covers
   * the unusual ones, and the lease bounds how long a key waits for a process that died.
   *
   * @param duration 1 ms to 1 day, between {@link #leaseFloor} and {@link #leaseCap}, which {@link
   *     #build()} checks; by default 10 seconds, moved into that range
   * @return this
   * @throws IllegalArgumentException if it is not between 1 ms and 1 day
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> leaseTime(Duration duration) {
    leaseTime = once("leaseTime", leaseTime, Limits.span(duration, "leaseTime"));
    return this;
  }

  /**
   * Sets the shortest lease that is accepted.
   *
   * @param duration 1 ms to 1 day; 100 ms by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> leaseFloor(Duration duration) {
    leaseFloor = once("leaseFloor", leaseFloor, Limits.span(duration, "leaseFloor"));
    return this;
  }

  /**
   * Sets the longest lease that is accepted.
   *
   * @param duration 1 ms to 1 day; 5 minutes by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> leaseCap(Duration duration) {
    leaseCap = once("leaseCap", leaseCap, Limits.span(duration, "leaseCap"));
    return this;
  }

  /**
   * Sets whether the lease is extended at each third of its length while the load runs.
   *
   * @param enabled true by default
   * @return this
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> renewal(boolean enabled) {
    renewal = once("renewal", renewal, enabled);
    return this;
  }

  /**
   * Sets when a load is given up: its lease is extended no more and nobody waits for it any longer.
   * A value that still comes is stored unless something newer has happened. A loader on its
   * caller's thread can't be stopped: that one call takes as long as its loader.
   *
   * @param duration 1 ms to 1 day; 30 seconds by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxLoadTime(Duration duration) {
    maxLoadTime = once("maxLoadTime", maxLoadTime, Limits.span(duration, "maxLoadTime"));
    return this;
  }

  /**
   * Sets for how long after a failed load nobody in the fleet starts the next one.
   *
   * @param duration 0 (no pause) to 1 day; 1 second by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> coolDown(Duration duration) {
    coolDown = once("coolDown", coolDown, Limits.pause(duration, "coolDown"));
    return this;
  }

  /**
   * Sets for how long after an invalidation loaded values are returned but not stored. Set it above
   * the lag of a replicated source, from whose replicas a load might read what was just replaced.
   *
   * @param duration 0 (no pause) to 1 day; 0 by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> holdOff(Duration duration) {
    holdOff = once("holdOff", holdOff, Limits.pause(duration, "holdOff"));
    return this;
  }

  /**
   * Sets what all keys of this cache begin with in the store, for example the name of the
   * application and a colon.
   *
   * @param prefix at most 200 characters; empty by default
   * @return this
   * @throws IllegalArgumentException if it is longer, or has an unpaired surrogate
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> keyPrefix(String prefix) {
    keyPrefix = once("keyPrefix", keyPrefix, checkedPrefix(prefix));
    return this;
  }

  /**
   * Sets above which length payloads are compressed (deflate).
   *
   * @param bytes 0 bytes or more; never by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> compressAbove(int bytes) {
    compressAbove = once("compressAbove", compressAbove, checkedBytes(bytes, "compressAbove"));
    return this;
  }

  /**
   * Sets the largest payload, before compression and after decompression. A larger loaded value is
   * returned but not stored, a larger put is refused, a larger stored payload counts as unreadable.
   *
   * @param bytes 0 bytes or more; 16 MiB by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxValueBytes(int bytes) {
    maxValueBytes = once("maxValueBytes", maxValueBytes, checkedBytes(bytes, "maxValueBytes"));
    return this;
  }

  private static double checkedJitter(double part) {
    if (!(part >= 0 && part <= 0.5)) {
      throw new IllegalArgumentException("jitter must be between 0 and 0.5, is " + part);
    }
    return part;
  }

  private static String checkedPrefix(String prefix) {
    requireNonNull(prefix, "prefix");
    if (prefix.length() > 200) {
      throw new IllegalArgumentException(
          "keyPrefix must have at most 200 characters, has " + prefix.length());
    }
    try {
      KeyFormats.utf8(prefix);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "keyPrefix of " + prefix.length() + " characters has an unpaired surrogate", e);
    }
    return prefix;
  }

  private static int checkedBytes(int bytes, String option) {
    if (bytes < 0) {
      throw new IllegalArgumentException(option + " must not be negative, is " + bytes);
    }
    return bytes;
  }

  /**
   * Makes the cache.
   *
   * @param <K1> the type of its keys, which the variable it is assigned to decides
   * @return the cache
   * @throws IllegalStateException if there is a cache of that name already, or options contradict
   *     each other
   */
  public <K1 extends K> Cache<K1, V> build() {
    Duration ttl = or(timeToLive, Duration.ofMinutes(5));
    Duration stale = or(serveStaleFor, Duration.ZERO);
    Duration floor = or(leaseFloor, Duration.ofMillis(100));
    Duration cap = or(leaseCap, Duration.ofMinutes(5));
    if (floor.compareTo(cap) > 0) {
      throw new IllegalStateException(
          "leaseFloor "
              + floor
              + " is above leaseCap "
              + cap
              + ": lower the one or raise the other");
    }
    Duration lease = leaseTime;
    if (lease == null) {
      lease = min(max(Duration.ofSeconds(10), floor), cap);
    } else if (lease.compareTo(floor) < 0 || lease.compareTo(cap) > 0) {
      throw new IllegalStateException(
          "leaseTime "
              + lease
              + " is not between leaseFloor "
              + floor
              + " and leaseCap "
              + cap
              + ": change one of them");
    }
    Duration negative = negativeTimeToLive;
    if (negative == null) {
      negative = min(Duration.ofSeconds(30), ttl);
    }
    Cache<K, V> cache =
        open.apply(
            new CacheConfiguration<>(
                name,
                codec,
                keyFormat == null ? KeyFormats.<K>standard() : keyFormat,
                loader,
                ttl,
                stale,
                alwaysFresh == null,
                or(jitter, 0.1),
                negative,
                or(maxWait, Duration.ofSeconds(5)),
                otherwise == null ? Otherwise.fail() : otherwise,
                lease,
                floor,
                cap,
                or(renewal, Boolean.TRUE),
                or(maxLoadTime, Duration.ofSeconds(30)),
                or(coolDown, Duration.ofSeconds(1)),
                or(holdOff, Duration.ZERO),
                or(keyPrefix, ""),
                or(compressAbove, Integer.MAX_VALUE),
                or(maxValueBytes, 16 * 1024 * 1024)));
    if (enabled != null) {
      cache.setEnabled(enabled);
    }
    // A cache only takes keys, so one for all K serves as one for some of them.
    @SuppressWarnings("unchecked")
    Cache<K1, V> narrowed = (Cache<K1, V>) cache;
    return narrowed;
  }

  /**
   * This builder, for keys of a narrower type. What was set before takes all K, so these as well.
   */
  @SuppressWarnings("unchecked")
  private <K1 extends K> CacheBuilder<K1, V> narrowed() {
    return (CacheBuilder<K1, V>) this;
  }

  private static <T> T or(@Nullable T value, T otherwise) {
    return value == null ? otherwise : value;
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  private static Duration max(Duration a, Duration b) {
    return a.compareTo(b) >= 0 ? a : b;
  }
}
