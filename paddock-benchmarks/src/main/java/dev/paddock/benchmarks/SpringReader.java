/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.cache.RedisCacheWriter;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.serializer.RedisSerializationContext.SerializationPair;

/**
 * Reads by the cache of Spring Data Redis on Lettuce: {@code Cache.get(key, Callable)}, which is
 * what {@code @Cacheable(sync = true)} calls. All options but the time to live and the serializer,
 * which leaves bytes as they are, have their defaults.
 */
final class SpringReader implements StoringReader, InvalidatingReader {
  private final LettuceConnectionFactory connections;
  private final Cache cache;

  /**
   * Connects.
   *
   * @param uri where Redis is
   * @param locking whether the writer is the locking one, made by {@code lockingRedisCacheWriter};
   *     else it is the one that is used if none is named
   */
  SpringReader(String uri, boolean locking) {
    RedisURI address = RedisURI.create(uri);
    connections =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(address.getHost(), address.getPort()));
    connections.afterPropertiesSet();
    connections.start();
    RedisCacheManager manager =
        RedisCacheManager.builder(
                locking
                    ? RedisCacheWriter.lockingRedisCacheWriter(connections)
                    : RedisCacheWriter.nonLockingRedisCacheWriter(connections))
            .cacheDefaults(
                RedisCacheConfiguration.defaultCacheConfig()
                    .entryTtl(Duration.ofMillis(LuaScript.TTL_MILLIS))
                    .serializeValuesWith(SerializationPair.byteArray()))
            .build();
    manager.afterPropertiesSet();
    Cache made = manager.getCache(locking ? "spring-locking" : "spring");
    if (made == null) {
      throw new IllegalStateException("Spring made no cache");
    }
    cache = made;
  }

  @Override
  public byte @Nullable [] read(String key, Source source) {
    return cache.get(key, source::load);
  }

  @Override
  public void store(String key, byte[] value) {
    // Unlike put, which returns before Redis has the value.
    cache.putIfAbsent(key, value);
  }

  @Override
  public void invalidate(String key) {
    // Unlike evict, which may return before Redis has deleted it.
    cache.evictIfPresent(key);
  }

  @Override
  public void close() {
    connections.destroy();
  }
}
