/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;

/** A cold fill by hand: a look, a script that claims and a script that stores, in sequence. */
abstract class ScriptsReader implements Reader {
  /** The length of Paddock's header. */
  private static final int HEADER = 99;

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  final RedisCommands<byte[], byte[]> redis;
  final String claim;
  final String finish;

  /**
   * Connects and loads the scripts.
   *
   * @param uri the server
   * @param claiming the script that claims
   * @param finishing the script that stores
   */
  ScriptsReader(String uri, byte[] claiming, byte[] finishing) {
    client = RedisClient.create(uri);
    connection = client.connect(ByteArrayCodec.INSTANCE);
    redis = connection.sync();
    claim = redis.scriptLoad(claiming);
    finish = redis.scriptLoad(finishing);
  }

  /** Makes a stored value as long as Paddock's. */
  static byte[] behindHeader(byte[] loaded) {
    byte[] stored = new byte[HEADER + loaded.length];
    System.arraycopy(loaded, 0, stored, HEADER, loaded.length);
    return stored;
  }

  @Override
  public final void close() {
    connection.close();
    client.shutdown();
  }
}
