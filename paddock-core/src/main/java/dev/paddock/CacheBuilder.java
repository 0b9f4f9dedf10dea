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
  private @Nullable Duration failSafeFor;
  private @Nullable Double jitter;
  private @Nullable Double earlyRefresh;
  private @Nullable Double earlyRefreshAt;
  private @Nullable Duration negativeTimeToLive;
  private @Nullable Duration maxWait;
  private @Nullable Duration leaseTime;
  private @Nullable Duration leaseFloor;
  private @Nullable Duration leaseCap;
  private @Nullable Boolean renewal;
  private @Nullable Duration maxLoadTime;
  private @Nullable Duration softLoadTimeout;
  private @Nullable Duration hardLoadTimeout;
  private @Nullable Duration coolDown;
  private @Nullable Duration holdOff;
  private @Nullable Duration outageTimeToLive;
  private @Nullable Integer maxConcurrentLoads;
  private @Nullable Integer maxQueuedLoads;
  private @Nullable String keyPrefix;
  private @Nullable Integer compressAbove;
  private @Nullable Integer maxValueBytes;
  private @Nullable Integer maxBulkSize;
  private @Nullable Long nearMaxEntries;
  private @Nullable Long nearMaxWeight;
  private @Nullable NearWeigher<? super K, ? super V> nearWeigher;
  private @Nullable Duration nearTimeToLive;
  private @Nullable Duration tagLag;
  private @Nullable Duration tagSkew;

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
   * Sets how long a value is kept past its soft TTL for callers whose load fails or takes too long:
   * instead of an exception, or what {@link #otherwise} says, they get it, stale. Nobody gets it
   * before. Failed loads follow each other no faster than {@link #coolDown} allows. It does not
   * apply to calls that are {@link CallOptions#alwaysFresh() always fresh}.
   *
   * @param duration 0 to 10 years; 0 by default: as long as {@link #serveStaleFor}. What is longer
   *     of the two is how long the store keeps the value
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> failSafeFor(Duration duration) {
    failSafeFor = once("failSafeFor", failSafeFor, Limits.window(duration, "failSafeFor"));
    return this;
  }

  /**
   * Sets how eagerly values are refreshed before they expire: at each hit, at random, the likelier
   * the nearer the expiry and the longer the load took, so that popular keys do not expire at all.
   * One load in the fleet does it, in the background. The load time counts as at least 1 ms and at
   * most a tenth of the TTL.
   *
   * @param beta 0 (never) to 10; 0 by default. 1 is the optimum of the paper (XFetch: Vattani,
   *     Chierichetti, Lowenstein, VLDB 2015), more is earlier
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> earlyRefresh(double beta) {
    if (!(beta >= 0 && beta <= 10)) {
      throw new IllegalArgumentException("earlyRefresh must be between 0 and 10, is " + beta);
    }
    earlyRefresh = once("earlyRefresh", earlyRefresh, beta);
    return this;
  }

  /**
   * Sets the part of its TTL after which the next hit refreshes a value in the background; simpler
   * and less well spread than {@link #earlyRefresh}, which it excludes.
   *
   * @param part above 0 to 1 (not early); 1 by default; 0.8 refreshes in the last fifth
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> earlyRefreshAt(double part) {
    if (!(part > 0 && part <= 1)) {
      throw new IllegalArgumentException(
          "earlyRefreshAt must be above 0 and at most 1, is " + part);
    }
    earlyRefreshAt = once("earlyRefreshAt", earlyRefreshAt, part);
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
   * Fixes the length of the fill lease. By default it is measured instead: twice the 99th
   * percentile of the load times of the last ten minutes, between {@link #leaseFloor} and {@link
   * #leaseCap}, and 10 seconds, moved into that range, until 20 loads have been measured. Renewal
   * covers the unusual loads, and the lease bounds how long a key waits for a process that died.
   *
   * @param duration 1 ms to 1 day, between {@link #leaseFloor} and {@link #leaseCap}, which {@link
   *     #build()} checks
   * @return this
   * @throws IllegalArgumentException if it is not between 1 ms and 1 day
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> leaseTime(Duration duration) {
    leaseTime = once("leaseTime", leaseTime, Limits.span(duration, "leaseTime"));
    return this;
  }

  /**
   * Sets the shortest lease. It should be longer than a pause of the process that is no surprise: a
   * lease that is lost to one means a second load.
   *
   * @param duration 1 ms to 1 day; by default 1 second, or {@link #leaseCap} if that is shorter;
   *     100 ms where {@link #leaseTime} is fixed
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> leaseFloor(Duration duration) {
    leaseFloor = once("leaseFloor", leaseFloor, Limits.span(duration, "leaseFloor"));
    return this;
  }

  /**
   * Sets the longest lease.
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
   * Sets whether the lease is extended at each third of its length while the load runs; the first
   * time at half of it where the length is measured.
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
   * Sets after which time a caller with a stale value at hand takes that one; the load goes on in
   * the background. With {@link #serveStaleFor} such a caller would not wait at all otherwise, with
   * {@link #failSafeFor} until the load has ended. Needs one of the two.
   *
   * <p>Loads then run on the executor instead of their caller's thread, which can't leave a load
   * that runs on its stack: thread-bound transactions and contexts do not reach the loader.
   *
   * @param duration 1 ms to 1 day, from the start of the call; none by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> softLoadTimeout(Duration duration) {
    softLoadTimeout =
        once("softLoadTimeout", softLoadTimeout, Limits.span(duration, "softLoadTimeout"));
    return this;
  }

  /**
   * Sets how long a caller waits for its own load. After that it gets a stale value if one was kept
   * for this, the fallback if {@link #otherwise} has one, else a {@link FillTimeoutException}; the
   * load goes on in the background, until {@link #maxLoadTime}. Callers who wait for the load of
   * another are bounded by {@link #maxWait}.
   *
   * <p>Loads then run on the executor, as with {@link #softLoadTimeout}.
   *
   * @param duration 1 ms to 1 day, from the start of the load; none by default. Not below {@link
   *     #softLoadTimeout} and not above {@link #maxLoadTime}
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> hardLoadTimeout(Duration duration) {
    hardLoadTimeout =
        once("hardLoadTimeout", hardLoadTimeout, Limits.span(duration, "hardLoadTimeout"));
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
   * Sets how long this process keeps what it has loaded while the store could not take it, so that
   * in an outage each key is loaded once in that time and process. At most 10,000 values are kept.
   * Other processes' invalidations do not reach them, so calls that are {@link
   * CallOptions#alwaysFresh() always fresh} do not get them.
   *
   * @param duration 0 (nothing is kept) to 1 day; 5 seconds by default. Never longer than the value
   *     is fresh
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> outageTimeToLive(Duration duration) {
    outageTimeToLive =
        once("outageTimeToLive", outageTimeToLive, Limits.pause(duration, "outageTimeToLive"));
    return this;
  }

  /**
   * Sets how many loads of this cache run at once in this process, however many keys are asked for.
   * Others wait in line, at most {@link #maxQueuedLoads} of them; their leases are kept. A caller
   * that has waited for {@link #maxWait}, or whose load finds the line full, gets a stale value if
   * one was kept for this, the fallback if {@link #otherwise} has one, or an exception: for a full
   * line a {@link TooManyLoadsException}. A load inside a loader of the same thread is not counted,
   * nor are calls that go straight to their loader.
   *
   * @param loads 1 or more; no limit by default
   * @return this
   * @throws IllegalArgumentException if it is less than 1
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxConcurrentLoads(int loads) {
    maxConcurrentLoads =
        once(
            "maxConcurrentLoads",
            maxConcurrentLoads,
            Limits.atLeast(loads, 1, "maxConcurrentLoads"));
    return this;
  }

  /**
   * Sets how many loads of this cache wait in line when as many run as may.
   *
   * @param loads 0 (none waits) or more; 1,000 by default
   * @return this
   * @throws IllegalArgumentException if it is negative
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxQueuedLoads(int loads) {
    maxQueuedLoads =
        once("maxQueuedLoads", maxQueuedLoads, Limits.atLeast(loads, 0, "maxQueuedLoads"));
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

  /**
   * Sets how many keys {@link Cache#getAll} asks the store for at once, and hands to one call of
   * its loader, at most. A read of more goes through them in chunks, one after the other.
   *
   * @param keys 1 to 5,000; 500 by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> maxBulkSize(int keys) {
    if (keys < 1 || keys > 5_000) {
      throw new IllegalArgumentException("maxBulkSize must be between 1 and 5000 keys, is " + keys);
    }
    maxBulkSize = once("maxBulkSize", maxBulkSize, keys);
    return this;
  }

  /**
   * Keeps fresh values in this process too, for {@link #nearTimeToLive}, so that most hits need no
   * command. Changes by other processes are told by messages, which usually arrive within
   * milliseconds; where one is lost the TTL is the bound. All callers get the same object: they
   * must not change it. Keys need {@code equals} and {@code hashCode}, and must not change; values
   * of keys that are arrays are not kept. Off by default.
   *
   * @param entries 1 or more; beyond that the least useful are dropped
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> nearMaxEntries(long entries) {
    nearMaxEntries =
        once("nearMaxEntries", nearMaxEntries, Limits.atLeast(entries, 1, "nearMaxEntries"));
    return this;
  }

  /**
   * As {@link #nearMaxEntries}, bounded by weight instead.
   *
   * @param <K1> the type of the keys from here on
   * @param weight 1 or more
   * @param weigher says what an entry weighs
   * @return this
   * @throws IllegalArgumentException if the weight is out of range
   * @throws IllegalStateException if it was set before
   */
  public <K1 extends K> CacheBuilder<K1, V> nearMaxWeight(
      long weight, NearWeigher<? super K1, ? super V> weigher) {
    CacheBuilder<K1, V> narrowed = narrowed();
    narrowed.nearMaxWeight =
        once("nearMaxWeight", narrowed.nearMaxWeight, Limits.atLeast(weight, 1, "nearMaxWeight"));
    narrowed.nearWeigher = requireNonNull(weigher, "weigher");
    return narrowed;
  }

  /**
   * Sets how long a value is kept in this process at most, never beyond its soft TTL. It is also
   * how long one that another process has changed may be served if the message of that is lost.
   *
   * @param duration 1 ms to 1 day; 5 seconds by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> nearTimeToLive(Duration duration) {
    nearTimeToLive =
        once("nearTimeToLive", nearTimeToLive, Limits.span(duration, "nearTimeToLive"));
    return this;
  }

  /**
   * Lets values have tags, and makes {@link Cache#invalidateTag} and {@link Cache#clear} work. Set
   * it alike in all processes that share the cache. Off by default, for it costs a read of the
   * barriers now and then.
   *
   * @param lag how long after {@code invalidateTag} or {@code clear} has returned other processes
   *     may still serve what it has outdated, 0 to 1 hour. Within each such time a process in use
   *     reads each barrier that it goes by about twice. 0 is strict: each read of a value is
   *     followed by one of its barriers, and nothing outdated is served
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> tagLag(Duration lag) {
    tagLag = once("tagLag", tagLag, Limits.lag(lag, "tagLag"));
    return this;
  }

  /**
   * Sets by how much the clocks of a store's parts may differ: those of a cluster's masters, or of
   * a primary and the replica that takes its place. Values whose loads begin within that time after
   * an invalidation of their tag, in processes that have not heard of it, are loaded once more.
   *
   * @param skew 0 to 1 hour; 100 ms by default
   * @return this
   * @throws IllegalArgumentException if it is out of range
   * @throws IllegalStateException if it was set before
   */
  public CacheBuilder<K, V> tagSkew(Duration skew) {
    tagSkew = once("tagSkew", tagSkew, Limits.lag(skew, "tagSkew"));
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
    Duration cap = or(leaseCap, Duration.ofMinutes(5));
    Duration usualFloor =
        leaseTime == null ? min(Duration.ofSeconds(1), cap) : Duration.ofMillis(100);
    Duration floor = or(leaseFloor, usualFloor);
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
    Duration failSafe = or(failSafeFor, Duration.ZERO);
    Duration loadTime = or(maxLoadTime, Duration.ofSeconds(30));
    checkTimeouts(stale, failSafe, loadTime);
    if (or(earlyRefresh, 0.0) > 0 && or(earlyRefreshAt, 1.0) < 1) {
      throw new IllegalStateException(
          "earlyRefresh "
              + earlyRefresh
              + " and earlyRefreshAt "
              + earlyRefreshAt
              + " exclude each other: choose one");
    }
    checkNear();
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
                failSafe,
                alwaysFresh == null,
                or(jitter, 0.1),
                or(earlyRefresh, 0.0),
                or(earlyRefreshAt, 1.0),
                negative,
                or(maxWait, Duration.ofSeconds(5)),
                otherwise == null ? Otherwise.fail() : otherwise,
                lease,
                leaseTime == null,
                floor,
                cap,
                or(renewal, Boolean.TRUE),
                loadTime,
                softLoadTimeout,
                hardLoadTimeout,
                or(coolDown, Duration.ofSeconds(1)),
                or(holdOff, Duration.ZERO),
                or(outageTimeToLive, Duration.ofSeconds(5)),
                or(maxConcurrentLoads, Integer.MAX_VALUE),
                or(maxQueuedLoads, 1_000),
                or(keyPrefix, ""),
                or(compressAbove, Integer.MAX_VALUE),
                or(maxValueBytes, 16 * 1024 * 1024),
                or(maxBulkSize, 500),
                or(nearMaxEntries, or(nearMaxWeight, 0L)),
                nearWeigher,
                or(nearTimeToLive, Duration.ofSeconds(5)),
                tagLag,
                or(tagSkew, Duration.ofMillis(100))));
    if (enabled != null) {
      cache.setEnabled(enabled);
    }
    // A cache only takes keys, so one for all K serves as one for some of them.
    @SuppressWarnings("unchecked")
    Cache<K1, V> narrowed = (Cache<K1, V>) cache;
    return narrowed;
  }

  private void checkNear() {
    boolean near = nearMaxEntries != null || nearMaxWeight != null;
    if (nearMaxEntries != null && nearMaxWeight != null) {
      throw new IllegalStateException(
          "nearMaxEntries "
              + nearMaxEntries
              + " and nearMaxWeight "
              + nearMaxWeight
              + " exclude each other: choose one");
    }
    if (nearTimeToLive != null && !near) {
      throw new IllegalStateException(
          "nearTimeToLive "
              + nearTimeToLive
              + " needs a near cache: set nearMaxEntries or nearMaxWeight");
    }
    if (near && alwaysFresh != null) {
      throw new IllegalStateException(
          "alwaysFresh and a near cache exclude each other: leave nearMaxEntries or nearMaxWeight"
              + " out, or let single calls say alwaysFresh");
    }
    if (tagLag != null && tagLag.isZero() && near) {
      throw new IllegalStateException(
          "tagLag 0 promises that nothing outdated is served, which a near cache can't keep: leave"
              + " nearMaxEntries or nearMaxWeight out, or allow a lag");
    }
    if (tagSkew != null && tagLag == null) {
      throw new IllegalStateException("tagSkew " + tagSkew + " needs tags: set tagLag");
    }
  }

  private void checkTimeouts(Duration stale, Duration failSafe, Duration loadTime) {
    Duration soft = softLoadTimeout;
    Duration hard = hardLoadTimeout;
    if (soft != null && stale.isZero() && failSafe.isZero()) {
      throw new IllegalStateException(
          "softLoadTimeout "
              + soft
              + " needs a stale value to fall back to: set serveStaleFor or failSafeFor, or use"
              + " hardLoadTimeout");
    }
    if (soft != null && alwaysFresh != null) {
      throw new IllegalStateException(
          "softLoadTimeout " + soft + " and alwaysFresh exclude each other: choose one");
    }
    if (soft != null && hard != null && soft.compareTo(hard) > 0) {
      throw new IllegalStateException(
          "softLoadTimeout " + soft + " is above hardLoadTimeout " + hard + ": change one of them");
    }
    if (hard != null && hard.compareTo(loadTime) > 0) {
      throw new IllegalStateException(
          "hardLoadTimeout " + hard + " is above maxLoadTime " + loadTime + ": change one of them");
    }
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
