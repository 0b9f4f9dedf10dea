/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.LocalCachedMapOptions;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.CompositeCodec;

/**
 * Reads by an {@code RLocalCachedMap} with its default options; it never loads. The codec leaves
 * strings and bytes as they are.
 */
final class RedissonNearReader implements StoringReader {
  private final RedissonClient redisson;
  private final RLocalCachedMap<String, byte[]> map;

  RedissonNearReader(String uri) {
    redisson = RedissonReader.connect(uri);
    map =
        redisson.getLocalCachedMap(
            LocalCachedMapOptions.<String, byte[]>name("redisson-near")
                .codec(new CompositeCodec(StringCodec.INSTANCE, ByteArrayCodec.INSTANCE)));
  }

  @Override
  public byte @Nullable [] read(String key, Source source) {
    return map.get(key);
  }

  @Override
  public void store(String key, byte[] value) {
    map.fastPut(key, value);
  }

  @Override
  public void close() {
    map.destroy();
    redisson.shutdown();
  }
}
