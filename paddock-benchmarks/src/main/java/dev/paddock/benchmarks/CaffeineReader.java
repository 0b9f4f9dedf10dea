/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;

/**
 * Reads by Caffeine alone, as its guide has it for a loader given with the call: {@code
 * Cache.get(key, mappingFunction)}. Nothing is shared between processes.
 */
final class CaffeineReader implements StoringReader, InvalidatingReader {
  private static final int MAXIMUM_SIZE = 100_000;

  private final Cache<String, byte[]> cache =
      Caffeine.newBuilder()
          .maximumSize(MAXIMUM_SIZE)
          .expireAfterWrite(Duration.ofMillis(LuaScript.TTL_MILLIS))
          .build();

  @Override
  public byte[] read(String key, Source source) {
    return cache.get(key, asked -> source.load());
  }

  @Override
  public void store(String key, byte[] value) {
    cache.put(key, value);
  }

  @Override
  public void invalidate(String key) {
    cache.invalidate(key);
  }

  @Override
  public void close() {
    cache.invalidateAll();
  }
}
