/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A cache shared by a fleet of processes, in which at most one process loads a key at a time.
 *
 * <p>{@code get} returns a fresh value; or a stale one at once, while it is refreshed in the
 * background; or has it loaded by one caller in the fleet, for whom the others wait, each no longer
 * than its {@code maxWait}; what happens then is the cache's {@link Otherwise}. On the store's
 * primary, a read that starts after {@link #invalidate} has returned never returns a value loaded
 * before it; what that does not cover is listed in the guide "guarantees and limits".
 *
 * <p>It does not promise that loads never overlap: a lease can be lost while its holder still runs.
 * A store that is gone or slow costs reads that protection, never the answer: each process goes on
 * by itself, one load per key at a time.
 *
 * <p>An {@link Error} that a loader throws on its caller's own thread goes on to that caller as it
 * is; everybody else who shares the load gets a {@link LoadFailedException} with it as the cause,
 * and so do asynchronous callers, while it goes on to the executor's thread.
 *
 * <p>Thread-safe. A loader runs on the thread that called {@code get}; for asynchronous calls and
 * background refreshes on the executor, and so do the dependents of the futures returned here.
 * Cancelling such a future, or interrupting a caller, touches no other caller. Values are shared by
 * the callers of one load and must not be changed. Caches live as long as the {@link Paddock} that
 * made them; after it is closed all methods throw {@link PaddockClosedException}.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public interface Cache<K, V> {

  /**
   * Returns the name of the cache.
   *
   * @return the name
   */
  String name();

  /**
   * Returns the settings in force.
   *
   * @return the configuration
   */
  CacheConfiguration<K, V> configuration();

  /**
   * Returns the options that calls have unless told otherwise, to derive others from.
   *
   * @return the cache's defaults
   */
  CallOptions<K, V> options();

  /**
   * Returns the value of a key, loading it with the cache's own loader if need be.
   *
   * @param key the key
   * @return the value; null if the source has none
   * @throws LoadFailedException if the load failed
   * @throws FillTimeoutException if others were loading for too long and the cache says to fail
   *     then
   * @throws PaddockInterruptedException if the thread was interrupted
   * @throws RecursiveLoadException if called by the loader of the same key
   * @throws IllegalStateException if the cache was built without a loader
   * @throws IllegalArgumentException if the key has no standard form, or more than 64 KiB
   */
  @Nullable V get(K key);

  /**
   * Returns the value of a key, loading it if need be.
   *
   * @param key the key
   * @param loader computes the value
   * @return the value; null if the source has none
   * @throws LoadFailedException if the load failed
   * @throws FillTimeoutException if others were loading for too long and the cache says to fail
   *     then
   * @throws PaddockInterruptedException if the thread was interrupted
   * @throws RecursiveLoadException if called by the loader of the same key
   * @throws IllegalArgumentException if the key has no standard form, or more than 64 KiB
   */
  default @Nullable V get(K key, KeyLoader<? super K, ? extends V> loader) {
    return get(key, Loader.of(loader), options());
  }

  /**
   * Returns the value of a key, loading it if need be, as {@link #get(Object, KeyLoader)} does.
   *
   * @param key the key
   * @param loader computes the value
   * @return the value; null if the source has none
   */
  default @Nullable V get(K key, Loader<K, V> loader) {
    return get(key, loader, options());
  }

  /**
   * Returns the value of a key, loading it if need be, as {@link #get(Object, KeyLoader)} does.
   *
   * @param key the key
   * @param loader computes the value
   * @param options options of this call
   * @return the value; null if the source has none
   */
  default @Nullable V get(
      K key, KeyLoader<? super K, ? extends V> loader, CallOptions<K, V> options) {
    return get(key, Loader.of(loader), options);
  }

  /**
   * Returns the value of a key, loading it if need be, as {@link #get(Object, KeyLoader)} does.
   *
   * @param key the key
   * @param loader computes the value
   * @param options options of this call
   * @return the value; null if the source has none
   */
  @Nullable V get(K key, Loader<K, V> loader, CallOptions<K, V> options);

  /**
   * As {@link #get(Object)}, without blocking.
   *
   * @param key the key
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  CompletableFuture<@Nullable V> getAsync(K key);

  /**
   * As {@link #get(Object, KeyLoader)}, without blocking. The loader runs on the executor.
   *
   * @param key the key
   * @param loader computes the value
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  default CompletableFuture<@Nullable V> getAsync(K key, KeyLoader<? super K, ? extends V> loader) {
    return getAsync(key, Loader.of(loader), options());
  }

  /**
   * As {@link #get(Object, Loader)}, without blocking. The loader runs on the executor.
   *
   * @param key the key
   * @param loader computes the value
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  default CompletableFuture<@Nullable V> getAsync(K key, Loader<K, V> loader) {
    return getAsync(key, loader, options());
  }

  /**
   * As {@link #get(Object, KeyLoader, CallOptions)}, without blocking. The loader runs on the
   * executor.
   *
   * @param key the key
   * @param loader computes the value
   * @param options options of this call
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  default CompletableFuture<@Nullable V> getAsync(
      K key, KeyLoader<? super K, ? extends V> loader, CallOptions<K, V> options) {
    return getAsync(key, Loader.of(loader), options);
  }

  /**
   * As {@link #get(Object, Loader, CallOptions)}, without blocking. The loader runs on the
   * executor.
   *
   * @param key the key
   * @param loader computes the value
   * @param options options of this call
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  CompletableFuture<@Nullable V> getAsync(K key, Loader<K, V> loader, CallOptions<K, V> options);

  /**
   * Returns the values of several keys, as {@link #getAll(Collection, BulkLoader, CallOptions)}
   * does.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @return the values
   */
  default Map<K, V> getAll(Collection<? extends K> keys, BulkLoader<K, V> loader) {
    return getAll(keys, loader, options());
  }

  /**
   * Returns the values of several keys, by the rules of {@link #get} for each of them. They are
   * read together; of those that are missing, the loader gets all that nobody else is loading, at
   * most {@code maxBulkSize} at a time; what it returns is stored at once, and only then are the
   * others waited for. So two calls that ask for the same keys never block each other, in whatever
   * order they ask. Stale values are returned at once where they are accepted, and refreshed in the
   * background by the same loader, together.
   *
   * <p>The loader runs on the calling thread, and in the background on the executor. The values are
   * not of one moment: each is as fresh as {@code get} would have it.
   *
   * @param keys the keys, none null; a key that is there twice is read once
   * @param loader computes the values of those that are missing
   * @param options options of this call, for each key; {@code maxWait} counts from when the key's
   *     chunk is read
   * @return the values in the order of the keys, without the keys that have no value in the source;
   *     unmodifiable
   * @throws BulkLoadException if some keys failed, once all others are settled; it has their values
   * @throws PaddockInterruptedException if the thread was interrupted
   * @throws PaddockClosedException if the Paddock is closed
   * @throws RecursiveLoadException if called by the loader of one of the keys
   * @throws IllegalArgumentException if a key has no standard form, or more than 64 KiB; then
   *     nothing is read
   */
  Map<K, V> getAll(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options);

  /**
   * As {@link #getAll(Collection, BulkLoader)}, without blocking. The loader runs on the executor.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @return completes with the values; exceptionally with what {@code getAll} throws
   */
  default CompletableFuture<Map<K, V>> getAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader) {
    return getAllAsync(keys, loader, options());
  }

  /**
   * As {@link #getAll(Collection, BulkLoader, CallOptions)}, without blocking. The loader runs on
   * the executor.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @param options options of this call, for each key
   * @return completes with the values; exceptionally with what {@code getAll} throws
   */
  CompletableFuture<Map<K, V>> getAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options);

  /**
   * As {@link #getAll(Collection, BulkLoader, CallOptions)}, but tells what became of each key
   * instead of failing because some did.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @return what became of each key
   * @throws PaddockInterruptedException if the thread was interrupted
   * @throws PaddockClosedException if the Paddock is closed
   */
  default BulkResult<K, V> tryGetAll(Collection<? extends K> keys, BulkLoader<K, V> loader) {
    return tryGetAll(keys, loader, options());
  }

  /**
   * As {@link #getAll(Collection, BulkLoader, CallOptions)}, but tells what became of each key
   * instead of failing because some did.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @param options options of this call, for each key
   * @return what became of each key
   * @throws PaddockInterruptedException if the thread was interrupted
   * @throws PaddockClosedException if the Paddock is closed
   */
  BulkResult<K, V> tryGetAll(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options);

  /**
   * As {@link #tryGetAll(Collection, BulkLoader)}, without blocking. The loader runs on the
   * executor.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @return completes with what became of each key; exceptionally with what {@code tryGetAll}
   *     throws
   */
  default CompletableFuture<BulkResult<K, V>> tryGetAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader) {
    return tryGetAllAsync(keys, loader, options());
  }

  /**
   * As {@link #tryGetAll(Collection, BulkLoader, CallOptions)}, without blocking. The loader runs
   * on the executor.
   *
   * @param keys the keys
   * @param loader computes the values of those that are missing
   * @param options options of this call, for each key
   * @return completes with what became of each key; exceptionally with what {@code tryGetAll}
   *     throws
   */
  CompletableFuture<BulkResult<K, V>> tryGetAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options);

  /**
   * Returns what is cached, by the same rules of freshness as {@code get}; never loads, never waits
   * for a load.
   *
   * @param key the key
   * @return the value; null if there is none, if it is cached that there is none, and if the store
   *     can't be reached
   * @throws PaddockInterruptedException if the thread was interrupted
   */
  @Nullable V getIfPresent(K key);

  /**
   * As {@link #getIfPresent}, without blocking.
   *
   * @param key the key
   * @return completes with the value, or null
   */
  CompletableFuture<@Nullable V> getIfPresentAsync(K key);

  /**
   * Returns what is cached, telling apart what {@link #getIfPresent} returns null for.
   *
   * @param key the key
   * @return a value, the knowledge that there is none, or nothing
   * @throws StoreException if the store can't be reached
   * @throws PaddockInterruptedException if the thread was interrupted
   */
  Lookup<V> lookup(K key);

  /**
   * As {@link #lookup}, without blocking.
   *
   * @param key the key
   * @return completes with what is known
   */
  CompletableFuture<Lookup<V>> lookupAsync(K key);

  /**
   * Stores a value. Loads in flight will not overwrite it.
   *
   * @param key the key
   * @param value the value; null stores a negative entry, or just invalidates if the cache keeps
   *     none
   * @throws StoreException if it was not stored, or that is unknown; the key is then invalidated as
   *     far as possible
   * @throws CodecException if the value can't be encoded; what is stored stays
   * @throws IllegalArgumentException if the value is larger than {@code maxValueBytes}; what is
   *     stored stays
   * @throws PaddockInterruptedException if the thread was interrupted; the value may be stored
   */
  default void put(K key, @Nullable V value) {
    put(key, value, options());
  }

  /**
   * Stores a value, as {@link #put(Object, Object)} does.
   *
   * @param key the key
   * @param value the value, or null
   * @param options options of this call, of which only the TTL matters
   */
  void put(K key, @Nullable V value, CallOptions<K, V> options);

  /**
   * As {@link #put(Object, Object)}, without blocking.
   *
   * @param key the key
   * @param value the value, or null
   * @return completes when it is stored; exceptionally with what {@code put} throws
   */
  default CompletableFuture<@Nullable Void> putAsync(K key, @Nullable V value) {
    return putAsync(key, value, options());
  }

  /**
   * As {@link #put(Object, Object, CallOptions)}, without blocking.
   *
   * @param key the key
   * @param value the value, or null
   * @param options options of this call, of which only the TTL matters
   * @return completes when it is stored; exceptionally with what {@code put} throws
   */
  CompletableFuture<@Nullable Void> putAsync(K key, @Nullable V value, CallOptions<K, V> options);

  /**
   * Removes a value. It is gone when this returns: no read that starts afterwards returns a value
   * loaded before, also where a load is in flight.
   *
   * @param key the key
   * @throws StoreException if it did not happen, or that is unknown; try again
   * @throws PaddockInterruptedException if the thread was interrupted; it may have happened
   */
  void invalidate(K key);

  /**
   * As {@link #invalidate}, without blocking.
   *
   * @param key the key
   * @return completes when the value is gone; exceptionally with what {@code invalidate} throws
   */
  CompletableFuture<@Nullable Void> invalidateAsync(K key);

  /**
   * Removes several values, as {@link #invalidate} does each of them. All are tried, at most {@code
   * maxBulkSize} at a time, also when some fail. It is not one step: a reader may find one key gone
   * and the next still there.
   *
   * @param keys the keys, none null
   * @throws StoreException if for some keys it did not happen, or that is unknown; try again, which
   *     does no harm to the others. The cause is the first failure, further ones (eight at most)
   *     are suppressed
   * @throws PaddockInterruptedException if the thread was interrupted; it may have happened
   */
  void invalidateAll(Collection<? extends K> keys);

  /**
   * As {@link #invalidateAll}, without blocking.
   *
   * @param keys the keys
   * @return completes when all are gone; exceptionally with what {@code invalidateAll} throws
   */
  CompletableFuture<@Nullable Void> invalidateAllAsync(Collection<? extends K> keys);

  /**
   * Invalidates all values that have a tag, however many, by one command: a barrier that values are
   * checked against when they are read. Values whose loads began before it count as missing from
   * then on, those of loads in flight too. In this process that holds when the method returns;
   * elsewhere after {@link CacheBuilder#tagLag} at most, and for values of a near cache after its
   * TTL at most.
   *
   * @param tag the tag, 1 to 255 bytes of UTF-8
   * @throws IllegalStateException if the cache was built without {@link CacheBuilder#tagLag}
   * @throws IllegalArgumentException if the tag is empty or too long
   * @throws StoreException if it did not happen, or that is unknown; try again, which does no harm
   * @throws PaddockInterruptedException if the thread was interrupted; it may have happened
   */
  void invalidateTag(String tag);

  /**
   * As {@link #invalidateTag}, without blocking.
   *
   * @param tag the tag
   * @return completes when it has happened; exceptionally with what {@code invalidateTag} throws
   */
  CompletableFuture<@Nullable Void> invalidateTagAsync(String tag);

  /**
   * Invalidates all values of this cache, as {@link #invalidateTag} does those that have a tag.
   * Nothing is deleted: what is outdated goes with its TTL, or when it is replaced.
   *
   * @throws IllegalStateException if the cache was built without {@link CacheBuilder#tagLag}
   * @throws StoreException if it did not happen, or that is unknown; try again, which does no harm
   * @throws PaddockInterruptedException if the thread was interrupted; it may have happened
   */
  void clear();

  /**
   * As {@link #clear}, without blocking.
   *
   * @return completes when it has happened; exceptionally with what {@code clear} throws
   */
  CompletableFuture<@Nullable Void> clearAsync();

  /**
   * Makes a value stale from now on: callers that accept a stale value still get it while the next
   * call refreshes it. Loads in flight are not stored.
   *
   * @param key the key
   * @throws StoreException if it did not happen, or that is unknown; try again
   * @throws PaddockInterruptedException if the thread was interrupted; it may have happened
   */
  void expire(K key);

  /**
   * As {@link #expire}, without blocking.
   *
   * @param key the key
   * @return completes when the value is stale; exceptionally with what {@code expire} throws
   */
  CompletableFuture<@Nullable Void> expireAsync(K key);

  /**
   * Loads the value now with the cache's own loader, however fresh it is. If a load of the key is
   * in flight in this process, its result counts; if another process is loading it, or the key is
   * in its cool-down, the result is the value at hand, if any, else that of the other or a {@link
   * LoadFailedException}. A result that is too large to be stored is returned, and the value at
   * hand stays.
   *
   * @param key the key
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   * @throws IllegalStateException if the cache was built without a loader
   */
  CompletableFuture<@Nullable V> refresh(K key);

  /**
   * As {@link #refresh(Object)}, with a loader of its own.
   *
   * @param key the key
   * @param loader computes the value, on the executor
   * @return completes with the value, or null; exceptionally with what {@code get} throws
   */
  CompletableFuture<@Nullable V> refresh(K key, Loader<K, V> loader);

  /**
   * Tells whether the cache is switched on.
   *
   * @return false if every call goes straight to its loader
   */
  boolean isEnabled();

  /**
   * Switches the cache on or off at run time, in this process. Off, each {@code get} runs its own
   * loader and nothing is read or stored; {@code put}, {@code invalidate} and {@code expire} still
   * reach the store, so that nothing outdated is there when it is switched on again.
   *
   * @param enabled whether to use the cache
   */
  void setEnabled(boolean enabled);
}
