/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.alicp.jetcache.Cache;
import com.alicp.jetcache.CacheValueHolder;
import com.alicp.jetcache.MultiLevelCacheBuilder;
import com.alicp.jetcache.embedded.CaffeineCacheBuilder;
import com.alicp.jetcache.redis.lettuce.RedisLettuceCacheBuilder;
import com.alicp.jetcache.support.Fastjson2KeyConvertor;
import io.lettuce.core.RedisClient;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;

/**
 * Reads by JetCache on Lettuce: {@code Cache.computeIfAbsent(key, loader)} with {@code
 * cachePenetrateProtect(true)}, built by its builders; {@code @Cached} with
 * {@code @CachePenetrationProtect} comes to the same. The encoder writes the time of expiry and the
 * bytes as they are, in place of Java's serialization.
 */
final class JetCacheReader implements StoringReader, InvalidatingReader {
  private static final int LOCAL_LIMIT = 100_000;

  private final RedisClient client;
  private final Cache<String, byte[]> cache;

  /**
   * Connects.
   *
   * @param uri where Redis is
   * @param twoLevels whether a Caffeine cache of JetCache's is in front
   */
  JetCacheReader(String uri, boolean twoLevels) {
    client = RedisClient.create(uri);
    Cache<String, byte[]> remote =
        RedisLettuceCacheBuilder.createRedisLettuceCacheBuilder()
            .redisClient(client)
            .keyPrefix(twoLevels ? "jetcache-2:" : "jetcache:")
            .keyConvertor(Fastjson2KeyConvertor.INSTANCE)
            .valueEncoder(JetCacheReader::encode)
            .valueDecoder(JetCacheReader::decode)
            .expireAfterWrite(LuaScript.TTL_MILLIS, TimeUnit.MILLISECONDS)
            .cachePenetrateProtect(true)
            .buildCache();
    cache = twoLevels ? inFrontOf(remote) : remote;
  }

  private static Cache<String, byte[]> inFrontOf(Cache<String, byte[]> remote) {
    Cache<String, byte[]> local =
        CaffeineCacheBuilder.createCaffeineCacheBuilder()
            .limit(LOCAL_LIMIT)
            .expireAfterWrite(LuaScript.TTL_MILLIS, TimeUnit.MILLISECONDS)
            .buildCache();
    return MultiLevelCacheBuilder.createMultiLevelCacheBuilder()
        .addCache(local, remote)
        .expireAfterWrite(LuaScript.TTL_MILLIS, TimeUnit.MILLISECONDS)
        .cachePenetrateProtect(true)
        .buildCache();
  }

  private static byte[] encode(Object held) {
    CacheValueHolder<?> holder = (CacheValueHolder<?>) held;
    byte[] value = (byte[]) holder.getValue();
    return ByteBuffer.allocate(Long.BYTES + value.length)
        .putLong(holder.getExpireTime())
        .put(value)
        .array();
  }

  private static Object decode(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    CacheValueHolder<byte[]> holder = new CacheValueHolder<>();
    holder.setExpireTime(buffer.getLong());
    byte[] value = new byte[buffer.remaining()];
    buffer.get(value);
    holder.setValue(value);
    return holder;
  }

  @Override
  public byte[] read(String key, Source source) {
    return cache.computeIfAbsent(key, asked -> source.load());
  }

  @Override
  public void store(String key, byte[] value) {
    if (!cache.PUT(key, value).isSuccess()) {
      throw new IllegalStateException("JetCache did not store");
    }
  }

  @Override
  public void invalidate(String key) {
    // Waits for the reply, unlike remove.
    cache.REMOVE(key).getResultCode();
  }

  @Override
  public void close() {
    cache.close();
    client.shutdown();
  }
}
