/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.text;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.PrimaryWithReplicas;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.ReadFrom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ReplicaReadsIT {
  private static final byte[] K = bytes("k");

  private static PrimaryWithReplicas group;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();

  @BeforeAll
  static void start() {
    group = PrimaryWithReplicas.start(1);
  }

  @AfterAll
  static void stop() {
    group.close();
  }

  @BeforeEach
  void fill() {
    primary().console().command("FLUSHALL");
    primary().console().command("SET", K, "v");
    group.awaitSync();
  }

  @AfterEach
  void close() {
    environment.close();
  }

  private static RedisServerProcess primary() {
    return group.primary();
  }

  private static RedisServerProcess replica() {
    return group.replicas().get(0);
  }

  /** Cuts the replica off from its primary; it keeps what it has, and says so when it is asked. */
  private static void detach() {
    replica().console().command("REPLICAOF", "127.0.0.1", "1");
  }

  private static void attach() {
    replica().console().command("REPLICAOF", "127.0.0.1", primary().port());
    group.awaitSync();
  }

  private LettuceTransport transport() {
    return open(
        LettuceRedis.connect(primary().uri(), ReadFrom.REPLICA), environment, Transports.IMPATIENT);
  }

  @Test
  void readsByDefault_comeFromThePrimary() throws Exception {
    LettuceTransport transport = open(primary().uri(), environment);
    detach();
    try {
      primary().console().command("SET", K, "new");
      assertThat(text(get(transport.get(K)))).isEqualTo("new");
    } finally {
      attach();
      transport.close();
    }
  }

  @Test
  void readsFromAReplica_mayBeOld_alsoAfterAnInvalidate() {
    // The guarantee that is given up, and nothing else: what the caller gets is stated in the docs.
    try (Paddock paddock =
        Paddock.newBuilder()
            .store(LettuceRedis.connect(primary().uri(), ReadFrom.REPLICA))
            .build()) {
      Cache<String, String> cache = paddock.<String, String>cache("c", Codecs.string()).build();
      cache.put("x", "old");
      group.awaitSync();
      detach();
      try {
        cache.invalidate("x");
        assertThat(cache.get("x", key -> "new")).isEqualTo("old");
      } finally {
        attach();
      }
      assertThat(cache.get("x", key -> "new")).isEqualTo("new");
    }
  }

  @Test
  void missOnAReplica_isSettledByThePrimary() {
    try (Paddock paddock =
        Paddock.newBuilder()
            .store(LettuceRedis.connect(primary().uri(), ReadFrom.REPLICA))
            .build()) {
      Cache<String, String> cache = paddock.<String, String>cache("c", Codecs.string()).build();
      detach();
      try {
        cache.put("x", "there");
        // Not loaded again: GET_OR_ACQUIRE runs on the primary, and finds it.
        assertThat(cache.get("x", key -> "loaded for nothing")).isEqualTo("there");
      } finally {
        attach();
      }
    }
  }

  @Test
  void replicaThatIsGone_isPassedOver() throws Exception {
    LettuceTransport transport = transport();
    assertThat(text(get(transport.get(K)))).isEqualTo("v");
    replica().kill();
    try {
      for (int i = 0; i < 20; i++) {
        assertThat(text(get(transport.get(K)))).isEqualTo("v");
      }
    } finally {
      replica().restart();
      group.awaitSync();
    }
    primary().console().command("SET", K, "w");
    group.awaitSync();
    until(() -> "w".equals(text(get(transport.get(K)))));
    transport.close();
  }

  @Test
  void replicaThatHangs_isPassedOver_andKeepsABoundedNumberOfCommands() throws Exception {
    LettuceTransport transport = transport();
    replica().pause();
    try {
      List<CompletableFuture<byte[]>> reads = new ArrayList<>();
      for (int i = 0; i < ReplicaReads.OPEN_MAX + 500; i++) {
        reads.add(transport.get(K).toCompletableFuture());
      }
      assertThat(transport.openReads()).isEqualTo(ReplicaReads.OPEN_MAX);
      for (CompletableFuture<byte[]> read : reads) {
        assertThat(text(get(read))).isEqualTo("v");
      }
    } finally {
      replica().resume();
    }
    until(() -> transport.openReads() == 0);
    transport.close();
  }

  @Test
  void replicaThatIsLoadingOrRefuses_isPassedOver() throws Exception {
    LettuceTransport transport = transport();
    // A replica without its primary that may not serve stale data answers MASTERDOWN.
    replica().console().command("CONFIG", "SET", "replica-serve-stale-data", "no");
    detach();
    try {
      assertThat(text(get(transport.get(K)))).isEqualTo("v");
    } finally {
      replica().console().command("CONFIG", "SET", "replica-serve-stale-data", "yes");
      attach();
      transport.close();
    }
  }
}
