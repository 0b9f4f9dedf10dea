/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.FenceOutcome;
import dev.paddock.FenceOutcome.Accepted;
import dev.paddock.FenceOutcome.Rejected;
import dev.paddock.redis.FencedWrite;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fenced writes on real servers. */
final class FencedWritesIT {
  private static final byte[] KEY = "board:{x}".getBytes(UTF_8);
  private static final String A = "a".repeat(32);
  private static final String B = "b".repeat(32);

  private static RedisServerProcess server;
  private static RedisClient client;
  private static StatefulRedisConnection<byte[], byte[]> connection;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    client = RedisClient.create(server.uri());
    connection = client.connect(ByteArrayCodec.INSTANCE);
  }

  @AfterAll
  static void stop() {
    connection.close();
    client.shutdown();
    server.close();
  }

  @BeforeEach
  void empty() {
    server.console().command("CONFIG", "SET", "maxmemory", "0");
    server.console().command("FLUSHALL");
  }

  private static FenceOutcome send(FencedWrite write) {
    return FencedWrites.send(connection.async(), write).toCompletableFuture().join();
  }

  private static FenceOutcome set(long token, String id, String value) {
    return send(FencedWrite.set(KEY, value.getBytes(UTF_8), null, token, id));
  }

  private static String value() {
    byte[] value = connection.sync().get(KEY);
    return value == null ? "(none)" : new String(value, UTF_8);
  }

  @Test
  void set_smallerToken_changesNothingAndSaysBoth() {
    assertThat(set(34, B, "new")).isEqualTo(new Accepted(34));
    assertThat(set(33, A, "stale")).isEqualTo(new Rejected(33, 34));
    assertThat(value()).isEqualTo("new");
  }

  @Test
  void set_sameToken_isAcceptedFromItsLeaseAlone() {
    set(34, B, "one");
    assertThat(set(34, B, "two")).isEqualTo(new Accepted(34));
    assertThat(set(34, A, "three")).isEqualTo(new Rejected(34, 34));
    assertThat(value()).isEqualTo("two");
  }

  @Test
  void set_tokensBeyondTheNumbersOfLua_loseNoDigit() {
    assertThat(set(9_007_199_254_740_993L, A, "one").accepted()).isTrue();
    assertThat(set(9_007_199_254_740_992L, B, "two"))
        .isEqualTo(new Rejected(9_007_199_254_740_992L, 9_007_199_254_740_993L));
    assertThat(set(Long.MAX_VALUE, B, "three").accepted()).isTrue();
    assertThat(set(10, A, "four").accepted()).as("compared by value, not by text").isFalse();
  }

  @Test
  void set_withTimeToLive_runsOutAndItsFenceStays() {
    send(FencedWrite.set(KEY, "x".getBytes(UTF_8), Duration.ofHours(1), 34, B));
    assertThat(connection.sync().pttl(KEY)).isBetween(1L, 3_600_000L);
    assertThat(
            send(FencedWrite.set(KEY, "x".getBytes(UTF_8), Duration.ofHours(1), 33, A)).accepted())
        .isFalse();
    connection.sync().del(KEY);
    assertThat(set(33, A, "stale").accepted()).isFalse();
  }

  @Test
  void set_withoutTimeToLive_hasNone() {
    set(34, B, "x");
    assertThat(connection.sync().pttl(KEY)).isEqualTo(-1);
  }

  @Test
  void raiseFloor_refusesUpToItAndNeverLowers() {
    assertThat(send(FencedWrite.raiseFloor(KEY, 50)).accepted()).isTrue();
    assertThat(send(FencedWrite.raiseFloor(KEY, 40)).accepted()).isFalse();
    assertThat(set(50, A, "x")).isEqualTo(new Rejected(50, 50));
    assertThat(set(51, A, "x").accepted()).isTrue();
  }

  @Test
  void scriptFlush_betweenWrites_goesUnnoticed() {
    set(33, A, "x");
    server.console().command("SCRIPT", "FLUSH");
    assertThat(set(34, B, "y").accepted()).isTrue();
  }

  @Test
  void outOfMemory_isAnErrorAndNothingHasChanged() {
    set(33, A, "x");
    server.console().command("CONFIG", "SET", "maxmemory", "1");
    assertThatThrownBy(() -> set(34, B, "y")).hasMessageContaining("OOM");
    server.console().command("CONFIG", "SET", "maxmemory", "0");
    assertThat(value()).isEqualTo("x");
    assertThat(set(33, A, "z").accepted()).isTrue();
  }

  @Test
  void cluster_anyKey_sharesItsSlotWithItsFence() {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      RedisClusterClient clients =
          RedisClusterClient.create(
              cluster.nodes().stream().map(node -> RedisURI.create(node.uri())).toList());
      try (StatefulRedisClusterConnection<byte[], byte[]> connected =
          clients.connect(ByteArrayCodec.INSTANCE)) {
        for (String key : List.of("a", "}a", "{a}b", "a}b{c", "", "{}")) {
          FencedWrite write =
              FencedWrite.set(key.getBytes(UTF_8), "x".getBytes(UTF_8), null, 33, A);
          assertThat(
                  FencedWrites.send(connected.async(), write)
                      .toCompletableFuture()
                      .join()
                      .accepted())
              .as(key)
              .isTrue();
        }
      } finally {
        clients.shutdown();
      }
    }
  }

  @Test
  void arguments_outOfRange_areRefused() {
    assertThatThrownBy(() -> set(0, A, "x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is 0");
    assertThatThrownBy(() -> FencedWrite.set(KEY, new byte[0], Duration.ofNanos(1), 1, A))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("timeToLive");
  }
}
