/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.codec.StringCodec;
import org.jspecify.annotations.Nullable;

/** Sends GET and waits for the reply, over one connection with Lettuce's default settings. */
final class PlainReader implements StoringReader {
  private final RedisClient client;
  private final StatefulRedisConnection<String, byte[]> connection;
  private final RedisCommands<String, byte[]> redis;

  PlainReader(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect(RedisCodec.of(StringCodec.UTF8, ByteArrayCodec.INSTANCE));
    redis = connection.sync();
  }

  @Override
  public byte @Nullable [] read(String key, Source source) {
    return redis.get(key);
  }

  @Override
  public void store(String key, byte[] value) {
    redis.set(key, value, SetArgs.Builder.px(LuaScript.TTL_MILLIS));
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
