/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;

/**
 * Reads by an {@code RBucket}, and fills it under an {@code RLock} of the key: look, lock, look
 * again, load, store, unlock. The lock has no lease time of its own, so that Redisson's watchdog
 * renews it. All options have their defaults; the codec leaves bytes as they are.
 */
final class RedissonReader implements StoringReader, InvalidatingReader {
  private final RedissonClient redisson;

  RedissonReader(String uri) {
    redisson = connect(uri);
  }

  static RedissonClient connect(String uri) {
    Config config = new Config();
    config.useSingleServer().setAddress(uri);
    return Redisson.create(config);
  }

  private RBucket<byte[]> bucket(String key) {
    return redisson.getBucket("redisson:" + key, ByteArrayCodec.INSTANCE);
  }

  @Override
  public byte[] read(String key, Source source) {
    RBucket<byte[]> bucket = bucket(key);
    byte[] value = bucket.get();
    if (value != null) {
      return value;
    }
    RLock lock = redisson.getLock("redisson-lock:" + key);
    lock.lock();
    try {
      value = bucket.get();
      if (value == null) {
        value = source.load();
        bucket.set(value, Duration.ofMillis(LuaScript.TTL_MILLIS));
      }
      return value;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void store(String key, byte[] value) {
    bucket(key).set(value, Duration.ofMillis(LuaScript.TTL_MILLIS));
  }

  @Override
  public void invalidate(String key) {
    bucket(key).delete();
  }

  @Override
  public void close() {
    redisson.shutdown();
  }
}
