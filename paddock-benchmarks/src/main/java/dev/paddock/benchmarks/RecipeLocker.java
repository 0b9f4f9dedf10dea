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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The usual recipe for a lock: SET NX PX with an owner, compare-and-delete to release, and another
 * attempt after 20 to 80 ms at random. Where nobody else wants it these are two bare round trips.
 *
 * <p>There are no fencing tokens, no renewal and no watch for the end; a command without an answer
 * is an error.
 */
final class RecipeLocker implements Locker {
  private static final long POLL_MILLIS_MIN = 20;
  private static final long POLL_MILLIS_MAX = 80;

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final RedisCommands<byte[], byte[]> redis;
  private final String release;

  RecipeLocker(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect(ByteArrayCodec.INSTANCE);
    redis = connection.sync();
    release = redis.scriptLoad(LuaScript.COMPARE_AND_DELETE);
  }

  @Override
  public Held acquire(String name) throws InterruptedException {
    byte[] key = LuaScript.bytes("lock:" + name);
    byte[] owner = LuaScript.bytes(UUID.randomUUID().toString());
    while (!"OK".equals(redis.set(key, owner, SetArgs.Builder.nx().px(LuaScript.LEASE_MILLIS)))) {
      TimeUnit.MILLISECONDS.sleep(
          ThreadLocalRandom.current().nextLong(POLL_MILLIS_MIN, POLL_MILLIS_MAX + 1));
    }
    return new Held() {
      @Override
      public long token() {
        return 0;
      }

      @Override
      public void release() {
        Long deleted = redis.evalsha(release, ScriptOutputType.INTEGER, new byte[][] {key}, owner);
        if (deleted != 1) {
          throw new IllegalStateException("a lock was gone before it was released");
        }
      }
    };
  }

  @Override
  public void close() {
    connection.close();
    client.shutdown();
  }
}
