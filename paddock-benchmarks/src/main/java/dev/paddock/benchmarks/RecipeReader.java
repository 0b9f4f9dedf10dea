/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The usual recipe, done well: SET NX PX by each caller, compare-and-delete to release, and a poll
 * every 50 ms by whoever did not get the lock.
 */
final class RecipeReader implements Reader {
  private static final long POLL_MILLIS = 50;

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final RedisCommands<byte[], byte[]> redis;
  private final String release;

  RecipeReader(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect(ByteArrayCodec.INSTANCE);
    redis = connection.sync();
    release = redis.scriptLoad(LuaScript.COMPARE_AND_DELETE);
  }

  @Override
  public byte[] read(String name, Source source) throws InterruptedException {
    byte[] key = LuaScript.bytes("recipe:" + name);
    byte[] lock = LuaScript.bytes("lock:recipe:" + name);
    byte[] token = LuaScript.bytes(UUID.randomUUID().toString());
    while (true) {
      byte[] value = redis.get(key);
      if (value != null) {
        return value;
      }
      if ("OK".equals(redis.set(lock, token, SetArgs.Builder.nx().px(LuaScript.LEASE_MILLIS)))) {
        // The holder before may have stored between the two commands.
        value = redis.get(key);
        if (value == null) {
          value = source.load();
          redis.set(key, value, SetArgs.Builder.px(LuaScript.TTL_MILLIS));
        }
        redis.evalsha(release, ScriptOutputType.INTEGER, new byte[][] {lock}, token);
        return value;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
