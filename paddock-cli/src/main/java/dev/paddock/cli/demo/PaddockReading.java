/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.Cache;
import dev.paddock.CallOptions;
import dev.paddock.Lookup;
import dev.paddock.Paddock;
import dev.paddock.jackson.JacksonCodec;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Paddock, used as anybody would use it. */
final class PaddockReading implements Reading {
  /** Far beyond anything that an experiment expects: who is lost shows, and is not cut off. */
  private static final Duration LONG = Duration.ofSeconds(50);

  private final Paddock paddock;
  private final Source source;
  private final String prefix;
  private final ConcurrentMap<String, Cache<String, Leaderboard>> caches;
  private final boolean stale;

  PaddockReading(Paddock paddock, Source source, String prefix) {
    this(paddock, source, prefix, new ConcurrentHashMap<>(), false);
  }

  private PaddockReading(
      Paddock paddock,
      Source source,
      String prefix,
      ConcurrentMap<String, Cache<String, Leaderboard>> caches,
      boolean stale) {
    this.paddock = paddock;
    this.source = source;
    this.prefix = prefix;
    this.caches = caches;
    this.stale = stale;
  }

  /**
   * Returns the same, for callers that take a stale value.
   *
   * @return a view of the same caches
   */
  PaddockReading allowingStale() {
    return new PaddockReading(paddock, source, prefix, caches, true);
  }

  private Cache<String, Leaderboard> cache(Cell cell) {
    return caches.computeIfAbsent(
        cell.name(),
        name ->
            paddock
                .<String, Leaderboard>cache(name, JacksonCodec.of(Leaderboard.class))
                .loader((key, context) -> source.load(cell))
                .keyPrefix(prefix)
                .timeToLive(Duration.ofMillis(Cell.TIME_TO_LIVE_MILLIS))
                .serveStaleFor(Duration.ofMillis(cell.staleMillis()))
                .leaseFloor(Duration.ofMillis(1))
                .leaseTime(Duration.ofMillis(cell.leaseMillis()))
                .coolDown(Duration.ofMillis(cell.coolDownMillis()))
                .maxWait(LONG)
                .maxLoadTime(LONG)
                .build());
  }

  @Override
  public @Nullable Leaderboard read(Cell cell, Terms terms) {
    Cache<String, Leaderboard> cache = cache(cell);
    if (stale) {
      return cache.get(Cell.KEY);
    }
    return cache.get(Cell.KEY, (key, context) -> source.load(cell), cache.options().alwaysFresh());
  }

  @Override
  public void seedExpired(Cell cell, Leaderboard value) throws InterruptedException {
    Cache<String, Leaderboard> cache = cache(cell);
    CallOptions<String, Leaderboard> shortLived = cache.options().timeToLive(Duration.ofMillis(1));
    cache.put(Cell.KEY, value, shortLived);
    Lookup<Leaderboard> found = cache.lookup(Cell.KEY);
    while (!found.isMissing() && !found.stale()) {
      TimeUnit.MILLISECONDS.sleep(1);
      found = cache.lookup(Cell.KEY);
    }
  }

  @Override
  public void invalidate(Cell cell) {
    cache(cell).invalidate(Cell.KEY);
  }

  /**
   * Returns the version of what is stored.
   *
   * @param cell where
   * @return the version; 0 if nothing is stored
   */
  long storedVersion(Cell cell) {
    Leaderboard value = cache(cell).lookup(Cell.KEY).value();
    return value == null ? 0 : value.version();
  }
}
