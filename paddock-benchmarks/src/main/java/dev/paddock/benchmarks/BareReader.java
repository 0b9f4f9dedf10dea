/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The least that lets one caller of a fleet load while the others wait: a map of flights, a claim,
 * and a finish that sends the value to all processes.
 *
 * <p>There is no failure handling. A claim is not renewed, a lost message hangs its callers, an
 * invalidation is not known, and each fill is sent to each process whether it waits or not. It is a
 * bound, not a recipe.
 */
final class BareReader implements Reader {
  private static final byte[] CHANNEL = LuaScript.bytes("bare:fills");

  private final RedisClient client;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final StatefulRedisPubSubConnection<byte[], byte[]> fills;
  private final RedisCommands<byte[], byte[]> redis;
  private final ConcurrentHashMap<String, CompletableFuture<byte[]>> flights =
      new ConcurrentHashMap<>();
  private final String claim;
  private final String finish;

  BareReader(String uri) {
    client = RedisClient.create(uri);
    connection = client.connect(ByteArrayCodec.INSTANCE);
    redis = connection.sync();
    claim = redis.scriptLoad(LuaScript.own("claim.lua"));
    finish = redis.scriptLoad(LuaScript.own("finish.lua"));
    fills = client.connectPubSub(ByteArrayCodec.INSTANCE);
    fills.addListener(
        new RedisPubSubAdapter<>() {
          @Override
          public void message(byte[] channel, byte[] message) {
            onFill(message);
          }
        });
    fills.sync().subscribe(CHANNEL);
  }

  private void onFill(byte[] message) {
    int end = 0;
    while (message[end] != '\n') {
      end++;
    }
    CompletableFuture<byte[]> flight = flights.remove(new String(message, 0, end, UTF_8));
    if (flight != null) {
      flight.complete(Arrays.copyOfRange(message, end + 1, message.length));
    }
  }

  @Override
  public byte[] read(String name, Source source) {
    String key = "bare:" + name;
    CompletableFuture<byte[]> mine = new CompletableFuture<>();
    CompletableFuture<byte[]> other = flights.putIfAbsent(key, mine);
    if (other != null) {
      return other.join();
    }
    byte[] keyBytes = LuaScript.bytes(key);
    byte[] value = redis.get(keyBytes);
    if (value == null) {
      byte[][] keys = {keyBytes, LuaScript.bytes("claim:" + key)};
      List<byte[]> claimed =
          redis.evalsha(
              claim,
              ScriptOutputType.MULTI,
              keys,
              LuaScript.bytes(UUID.randomUUID().toString()),
              LuaScript.bytes(LuaScript.LEASE_MILLIS));
      switch (new String(claimed.get(0), UTF_8)) {
        case "HIT" -> value = claimed.get(1);
        case "GRANTED" -> {
          value = source.load();
          redis.evalsha(
              finish,
              ScriptOutputType.STATUS,
              keys,
              value,
              LuaScript.bytes(LuaScript.TTL_MILLIS),
              CHANNEL);
        }
        default -> {
          return mine.join();
        }
      }
    }
    flights.remove(key, mine);
    mine.complete(value);
    return value;
  }

  @Override
  public void close() {
    fills.close();
    connection.close();
    client.shutdown();
  }
}
