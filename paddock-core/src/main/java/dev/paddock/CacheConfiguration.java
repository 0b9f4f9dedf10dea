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
 * @param staleAllowed whether a caller gets a stale value unless it says otherwise
 * @param jitter the largest part by which a TTL is shortened
 * @param negativeTimeToLive TTL of negative entries; zero if none are kept
 * @param maxWait how long a caller waits for the load of another
 * @param otherwise what it gets then
 * @param leaseTime length of the fill lease
 * @param leaseFloor the shortest lease
 * @param leaseCap the longest lease
 * @param renewal whether the lease is extended while the load runs
 * @param maxLoadTime when a load is given up
 * @param coolDown pause after a failed load
 * @param holdOff pause after an invalidation
 * @param keyPrefix what all keys begin with
 * @param compressAbove payloads longer than this many bytes are compressed; {@link
 *     Integer#MAX_VALUE} for never
 * @param maxValueBytes the largest payload, compressed or not
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
    boolean staleAllowed,
    double jitter,
    Duration negativeTimeToLive,
    Duration maxWait,
    Otherwise<K, V> otherwise,
    Duration leaseTime,
    Duration leaseFloor,
    Duration leaseCap,
    boolean renewal,
    Duration maxLoadTime,
    Duration coolDown,
    Duration holdOff,
    String keyPrefix,
    int compressAbove,
    int maxValueBytes) {}
