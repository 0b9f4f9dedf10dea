/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of one cache, checked and complete. Made by {@link CacheBuilder}, which documents
 * each of them and its default.
 *
 * @param name the name of the cache
 * @param codec turns values into bytes
 * @param keyFormat turns keys into bytes
 * @param loader the cache's own loader; null if each call brings its own
 * @param timeToLive soft TTL
 * @param serveStaleFor how long a value is kept past its soft TTL
 * @param failSafeFor how long a value is kept past its soft TTL for callers whose load fails or
 *     takes too long
 * @param staleAllowed whether a caller gets a stale value unless it says otherwise
 * @param jitter the largest part by which a TTL is shortened
 * @param earlyRefresh how eagerly values are refreshed before they expire, as the factor beta; 0
 *     for not at all
 * @param earlyRefreshAt the part of its TTL after which a value is refreshed; 1 for not early
 * @param negativeTimeToLive TTL of negative entries; zero if none are kept
 * @param maxWait how long a caller waits for the load of another
 * @param otherwise what it gets then
 * @param leaseTime length of the fill lease, if it is measured until there is a measure
 * @param leaseMeasured whether the length follows the load times
 * @param leaseFloor the shortest lease
 * @param leaseCap the longest lease
 * @param renewal whether the lease is extended while the load runs
 * @param maxLoadTime when a load is given up
 * @param softLoadTimeout after which a caller takes the stale value at hand; null for none
 * @param hardLoadTimeout after which a caller whose loader runs waits no longer; null for none
 * @param coolDown pause after a failed load
 * @param holdOff pause after an invalidation
 * @param outageTimeToLive how long this process keeps what the store could not take; zero for not
 * @param maxConcurrentLoads how many of its loads run at once in this process; {@link
 *     Integer#MAX_VALUE} for no limit
 * @param maxQueuedLoads how many wait for that
 * @param keyPrefix what all keys begin with
 * @param compressAbove payloads longer than this many bytes are compressed; {@link
 *     Integer#MAX_VALUE} for never
 * @param maxValueBytes the largest payload, compressed or not
 * @param maxBulkSize how many keys one MGET reads and one bulk load gets at most
 * @param nearMaximum the most entries of the near cache, or their most weight; 0 for none
 * @param nearWeigher what an entry of the near cache weighs; null if entries are counted
 * @param nearTimeToLive how long the near cache keeps a value
 * @param tagLag how long after an invalidation by tag other processes may serve what it has
 *     outdated; null if values have no tags
 * @param tagSkew by how much the clocks of the store's parts may differ
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public record CacheConfiguration<K, V>(
    String name,
    Codec<V> codec,
    KeyFormat<? super K> keyFormat,
    @Nullable Loader<K, V> loader,
    Duration timeToLive,
    Duration serveStaleFor,
    Duration failSafeFor,
    boolean staleAllowed,
    double jitter,
    double earlyRefresh,
    double earlyRefreshAt,
    Duration negativeTimeToLive,
    Duration maxWait,
    Otherwise<K, V> otherwise,
    Duration leaseTime,
    boolean leaseMeasured,
    Duration leaseFloor,
    Duration leaseCap,
    boolean renewal,
    Duration maxLoadTime,
    @Nullable Duration softLoadTimeout,
    @Nullable Duration hardLoadTimeout,
    Duration coolDown,
    Duration holdOff,
    Duration outageTimeToLive,
    int maxConcurrentLoads,
    int maxQueuedLoads,
    String keyPrefix,
    int compressAbove,
    int maxValueBytes,
    int maxBulkSize,
    long nearMaximum,
    @Nullable NearWeigher<? super K, ? super V> nearWeigher,
    Duration nearTimeToLive,
    @Nullable Duration tagLag,
    Duration tagSkew) {}
