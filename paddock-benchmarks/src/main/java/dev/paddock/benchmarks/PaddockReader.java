/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.spi.StoreFactory;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads by Paddock, with the default options for calls. */
final class PaddockReader implements StoringReader, InvalidatingReader {
  private static final long NEAR_ENTRIES = 100_000;

  private final Paddock paddock;
  private final Cache<String, byte[]> cache;

  PaddockReader(StoreFactory store) {
    this(store, false);
  }

  private PaddockReader(StoreFactory store, boolean near) {
    // A machine that is busy starting JVMs is slow to connect, which is not what is measured.
    paddock = Paddock.newBuilder().store(store).connectTimeout(Duration.ofMinutes(1)).build();
    CacheBuilder<String, byte[]> builder =
        paddock
            .<String, byte[]>cache(near ? "bench-near" : "bench", Codecs.bytes())
            .timeToLive(Duration.ofMillis(LuaScript.TTL_MILLIS));
    cache = near ? builder.nearMaxEntries(NEAR_ENTRIES).build() : builder.build();
  }

  /** Keeps values in the process too, as long as it does by default. */
  static PaddockReader near(StoreFactory store) {
    return new PaddockReader(store, true);
  }

  @Override
  public byte @Nullable [] read(String key, Source source) {
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
    paddock.close();
  }
}
