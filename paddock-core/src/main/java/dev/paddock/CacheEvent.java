/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened in the life of a key. The key may be personal data: mind where it goes.
 */
public sealed interface CacheEvent {

  /**
   * Returns the name of the cache.
   *
   * @return the name
   */
  String cache();

  /**
   * Returns the key in the store, prefix and cache name included.
   *
   * @return the key as text
   */
  String key();

  /**
   * A fresh value, or a fresh negative entry, was returned.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param negative whether it was a negative entry
   */
  record Hit(String cache, String key, boolean negative) implements CacheEvent {}

  /**
   * A fresh value, or a fresh negative entry, was returned from this process's near cache.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record NearHit(String cache, String key) implements CacheEvent {}

  /**
   * A stored value was outdated by a barrier: one of its tags was invalidated, or the whole cache
   * cleared, since its load began. It counted as a miss.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record Outdated(String cache, String key) implements CacheEvent {}

  /**
   * All values with a tag, or all values of a cache, were invalidated by this process.
   *
   * @param cache the name of the cache
   * @param key the key in the store of the barrier that was raised
   * @param tag the tag; null for all values
   */
  record TagInvalidated(String cache, String key, @Nullable String tag) implements CacheEvent {}

  /**
   * Nothing fresh enough was there.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record Miss(String cache, String key) implements CacheEvent {}

  /**
   * A stale value was returned.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param age how long it had been stale
   */
  record StaleServed(String cache, String key, Duration age) implements CacheEvent {}

  /**
   * What was stored could not be used: foreign or corrupt bytes, another schema version, or a
   * payload that the codec refused. It counted as a miss.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param reason what was wrong, without the contents
   */
  record Unreadable(String cache, String key, String reason) implements CacheEvent {}

  /**
   * This process was granted the lease of a key.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param epoch the epoch
   * @param seq the seq inside it; more than 1 means that an earlier holder did not fill
   * @param degraded whether it is the one degraded load beside the holder
   */
  record LeaseGranted(String cache, String key, long epoch, long seq, boolean degraded)
      implements CacheEvent {}

  /**
   * Another process holds the lease.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param left how long that lease lasts unless it is extended
   */
  record LeaseContended(String cache, String key, Duration left) implements CacheEvent {}

  /**
   * The lease was extended.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record LeaseRenewed(String cache, String key) implements CacheEvent {}

  /**
   * The lease was lost while the load ran.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param outcome what an extension was told; null if the lease ran out
   */
  record LeaseLost(String cache, String key, @Nullable ExtendOutcome outcome)
      implements CacheEvent {}

  /**
   * This process is done with a lease: its load has ended, was given up, or took longer than {@code
   * maxLoadTime}. Not for the degraded load, which has no lease of its own.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param leaseTime how long the lease lasted from each grant and extension
   * @param held how long it was held, from the request for it
   * @param margin how long it would have been valid yet; zero or less if it was not any more
   */
  record LeaseEnded(String cache, String key, Duration leaseTime, Duration held, Duration margin)
      implements CacheEvent {}

  /**
   * More than a tenth of the cache's last 50 leases were extended or ran out while their load ran.
   * At most once in ten minutes.
   *
   * @param cache the name of the cache
   * @param key the key of the last of them
   * @param leaseTime how long that lease was
   * @param part how many of them, as a part of all
   */
  record LeaseTooShort(String cache, String key, Duration leaseTime, double part)
      implements CacheEvent {}

  /**
   * Values are refreshed when more than half of their TTL is still to come: the mean of the cache's
   * last 16 early refreshes. At most once in ten minutes.
   *
   * @param cache the name of the cache
   * @param key the key of the last of them
   * @param gap how long before the expiry
   * @param timeToLive the TTL of that key's value
   */
  record RefreshTooEarly(String cache, String key, Duration gap, Duration timeToLive)
      implements CacheEvent {}

  /**
   * A load began.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param leased whether under a lease
   */
  record LoadStarted(String cache, String key, boolean leased) implements CacheEvent {}

  /**
   * A load ended. Comes once for each {@link LoadStarted}.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param duration how long it took
   * @param end how it ended
   */
  record LoadEnded(String cache, String key, Duration duration, LoadEnd end)
      implements CacheEvent {}

  /** How a load ended. */
  enum LoadEnd {
    /** With a value. */
    LOADED,
    /** The source has no such value. */
    ABSENT,
    /** The loader failed. */
    FAILED,
    /**
     * The loading thread was interrupted, or all who could load had left: another caller takes
     * over, if there is one.
     */
    INTERRUPTED,
    /**
     * It went on past {@code maxLoadTime} or past the closing of the Paddock; nobody waits for it
     * any more.
     */
    ABANDONED
  }

  /**
   * A loaded value was offered to the store.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param outcome what became of it; null if that is unknown or the store could not be reached
   */
  record FillEnded(String cache, String key, @Nullable FillOutcome outcome) implements CacheEvent {}

  /**
   * A caller's wait for the load of another ended.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param duration how long it waited
   * @param end how it ended
   */
  record WaitEnded(String cache, String key, Duration duration, WaitEnd end)
      implements CacheEvent {}

  /** How a wait ended. */
  enum WaitEnd {
    /** With an answer: a value, or the knowledge that there is none. */
    ANSWERED,
    /** With the failure of the load. */
    FAILED,
    /** {@code maxWait} ran out. */
    TIMED_OUT,
    /** The caller was interrupted or cancelled its future. */
    CANCELLED
  }

  /**
   * A caller for whom waiting did not help got a stale value, or what its {@link Otherwise} says.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param how what it got
   */
  record Degraded(String cache, String key, How how) implements CacheEvent {
    /** What the caller got. */
    public enum How {
      /** An exception. */
      FAILED,
      /** A fallback. */
      FALLBACK,
      /** The right to the one degraded load. */
      LOAD,
      /** A stale value, which was kept for this. */
      STALE
    }
  }

  /**
   * A load was refused: as many run, and as many wait, as may. The caller got a stale value, what
   * its {@link Otherwise} says, or a {@link TooManyLoadsException}.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record LoadRefused(String cache, String key) implements CacheEvent {}

  /**
   * A value was returned that this process had loaded a moment before, while the store could not
   * take it.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   */
  record OutageServed(String cache, String key) implements CacheEvent {}

  /**
   * The store has stopped answering, so callers do not wait for it any more; or it answers again.
   *
   * @param cache the name of the cache whose command showed it
   * @param key the key in the store of that command
   * @param open true when callers stop waiting, false when it answers again
   */
  record BreakerChanged(String cache, String key, boolean open) implements CacheEvent {}

  /**
   * A value was loaded that may not be stored, because the key is being invalidated faster than
   * loads end, was invalidated a moment ago, or the value is too large.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param reason why
   */
  record NotStored(String cache, String key, String reason) implements CacheEvent {}

  /**
   * A key was invalidated, or made stale, by this process.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param hard true if it was removed, false if it was made stale
   */
  record Invalidated(String cache, String key, boolean hard) implements CacheEvent {}

  /**
   * The store failed or did not answer in time.
   *
   * @param cache the name of the cache
   * @param key the key in the store
   * @param operation which operation
   * @param error what happened
   */
  record StoreFailed(String cache, String key, String operation, StoreException error)
      implements CacheEvent {}
}
