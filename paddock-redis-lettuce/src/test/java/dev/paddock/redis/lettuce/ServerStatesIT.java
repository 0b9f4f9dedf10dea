/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.failure;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers that answer and refuse: each refusal is an error, no miss, and callers get a load. */
final class ServerStatesIT {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final ConcurrentLinkedQueue<CacheEvent> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger loads = new AtomicInteger();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private RedisServerProcess server;
  private Paddock paddock;
  private Cache<String, String> cache;

  @BeforeEach
  void start() {
    server = RedisServerProcess.start("--enable-debug-command", "yes");
    paddock =
        Paddock.newBuilder()
            .store(server.uri())
            .commandTimeout(Duration.ofSeconds(30))
            .listener(events::add)
            .build();
    cache = paddock.<String, String>cache("c", Codecs.string()).maxWait(PATIENCE).build();
    assertThat(load("known")).isEqualTo("known 1");
    events.clear();
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    paddock.close();
    server.close();
  }

  private String load(String key) {
    return String.valueOf(cache.get(key, k -> k + " " + loads.incrementAndGet()));
  }

  private boolean says(String error) {
    try (RedisCommands probe = server.connect()) {
      probe.command("GET", "c:known");
      return false;
    } catch (RedisReplyException e) {
      return String.valueOf(e.getMessage()).startsWith(error);
    }
  }

  /** While the server refuses everything. */
  private void refusing(String error) throws Exception {
    int before = loads.get();
    List<Future<String>> answers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      answers.add(threads.submit(() -> load("known")));
    }
    for (Future<String> answer : answers) {
      assertThat(answer.get(60, TimeUnit.SECONDS)).startsWith("known ");
    }
    // Each caller loads once at most, one after the other; nobody is told of a miss.
    assertThat(loads.get() - before).isBetween(1, 5);
    assertThat(events)
        .filteredOn(CacheEvent.StoreFailed.class::isInstance)
        .isNotEmpty()
        .allSatisfy(
            event ->
                assertThat(((CacheEvent.StoreFailed) event).error())
                    .hasMessageContaining(error)
                    .matches(thrown -> !thrown.mayHaveHappened()));
    assertThat(events).noneMatch(CacheEvent.Miss.class::isInstance);
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> cache.invalidate("known"))
        .withMessageContaining(error)
        .matches(thrown -> !thrown.mayHaveHappened());
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> cache.lookup("known"))
        .withMessageContaining(error);
  }

  private void healed() {
    until(() -> "known 1".equals(cache.getIfPresent("known")));
    int before = loads.get();
    assertThat(load("known")).isEqualTo("known 1");
    assertThat(loads).hasValue(before);
    String fresh = load("fresh");
    assertThat(load("fresh")).isEqualTo(fresh);
  }

  @Test
  void busyServer_withAScriptThatRunsLong_isNoMiss_andHeals() throws Exception {
    server.console().command("CONFIG", "SET", "busy-reply-threshold", "20");
    RedisCommands looping = server.connect();
    Future<?> loop = threads.submit(() -> looping.command("EVAL", "while true do end", "0"));
    until(() -> says("BUSY"));
    try {
      refusing("BUSY");
    } finally {
      try (RedisCommands killer = server.connect()) {
        killer.command("SCRIPT", "KILL");
      }
    }
    assertThat(loop).failsWithin(Duration.ofSeconds(30));
    looping.close();
    healed();
  }

  @Test
  void loadingServer_isNoMiss_andHeals() throws Exception {
    server.console().command("DEBUG", "POPULATE", "30000");
    server.console().command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
    server.console().command("CONFIG", "SET", "key-load-delay", "200");
    RedisCommands reloading = server.connect();
    Future<?> reload = threads.submit(() -> reloading.command("DEBUG", "RELOAD"));
    until(() -> says("LOADING"));
    refusing("LOADING");
    // Its value was in the data set all the time: nothing was taken for a miss.
    assertThat(reload).succeedsWithin(Duration.ofSeconds(60));
    reloading.close();
    healed();
  }

  @Test
  void replicaInstead_readsGoOn_andMissesAreLoadedHere() throws Exception {
    server.console().command("REPLICAOF", "127.0.0.1", "1");
    assertThat(load("known")).isEqualTo("known 1");
    assertThat(load("other")).isEqualTo("other 2");
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> cache.invalidate("known"))
        .withMessageContaining("READONLY")
        .matches(thrown -> !thrown.mayHaveHappened());
    assertThat(events)
        .filteredOn(CacheEvent.StoreFailed.class::isInstance)
        .isNotEmpty()
        .allSatisfy(
            event ->
                assertThat(((CacheEvent.StoreFailed) event).error())
                    .hasMessageContaining("READONLY"));
    server.console().command("REPLICAOF", "NO", "ONE");
    healed();
  }

  @Test
  void replicaInstead_isLeftByAnApplicationsClientToo() throws Exception {
    RealTimeEnvironment environment = RealTimeEnvironment.create();
    RedisClient client = RedisClient.create();
    LettuceTransport transport =
        open(LettuceRedis.using(client, RedisURI.create(server.uri())), environment);
    var others = client.connect(RedisURI.create(server.uri()));
    try {
      long id = others.sync().clientId();
      byte[] key = bytes("k");
      Object node = transport.nodeOf(key);
      server.console().command("REPLICAOF", "127.0.0.1", "1");
      byte[] write = bytes("redis.call('SET', KEYS[1], '1') return {}");
      assertThat(failure(transport.eval(write, new byte[][] {key}, new byte[0][])))
          .hasMessageContaining("READONLY");

      until(() -> !transport.nodeOf(key).equals(node));
      server.console().command("REPLICAOF", "NO", "ONE");
      assertThat(get(transport.eval(write, new byte[][] {key}, new byte[0][]))).isEmpty();
      // The application's own connections are none of our business.
      assertThat(others.sync().clientId()).isEqualTo(id);
    } finally {
      transport.close();
      client.shutdown(0, 2, TimeUnit.SECONDS);
      environment.close();
    }
  }
}
