/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static dev.paddock.redis.jedis.Transports.LIMIT;
import static dev.paddock.redis.jedis.Transports.bytes;
import static dev.paddock.redis.jedis.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisClusterProcess.SlotMigration;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Several Paddocks, as several processes would, on a real cluster. */
final class JedisClusterPaddockIT {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final long LIMIT_SECONDS = 120;

  private static RedisClusterProcess cluster;

  private final List<Paddock> paddocks = new ArrayList<>();
  private final Queue<CacheEvent> events = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
  private final ExecutorService callers = Executors.newCachedThreadPool();

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void close() {
    paddocks.forEach(Paddock::close);
    callers.shutdownNow();
  }

  private Cache<String, String> cache(Paddock paddock) {
    return cache(paddock, LONG);
  }

  private Cache<String, String> cache(Paddock paddock, Duration lease) {
    paddocks.add(paddock);
    return paddock
        .cache("c", Codecs.string())
        .maxWait(Duration.ofMinutes(1))
        .leaseTime(lease)
        .maxLoadTime(LONG)
        .timeToLive(LONG)
        .build();
  }

  private Paddock paddock(Duration commandTimeout) {
    return Paddock.newBuilder()
        .store(cluster.uri())
        .connectTimeout(LIMIT)
        .commandTimeout(commandTimeout)
        .listener(events::add)
        .build();
  }

  private Cache<String, String> cache() {
    return cache(paddock(LIMIT));
  }

  private static byte[] valueKey(String key) {
    return bytes("c:" + key);
  }

  private String load(String key) {
    loads.computeIfAbsent(key, absent -> new AtomicInteger()).incrementAndGet();
    return "value of " + key;
  }

  private int loads(String key) {
    AtomicInteger count = loads.get(key);
    return count == null ? 0 : count.get();
  }

  private Future<String> call(Cache<String, String> cache, String key, CountDownLatch gate) {
    return callers.submit(
        () ->
            cache.get(
                key,
                k -> {
                  String value = load(k);
                  gate.await();
                  return value;
                }));
  }

  private static String get(Future<String> future) throws Exception {
    return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  private List<CacheEvent> failures() {
    return events.stream().filter(CacheEvent.StoreFailed.class::isInstance).toList();
  }

  @Test
  void connect_withTheUriOfACluster_works() {
    Cache<String, String> cache = cache(Paddock.connect(cluster.uri()));
    assertThat(cache.get("connect", this::load)).isEqualTo("value of connect");
    assertThat(cache.get("connect", this::load)).isEqualTo("value of connect");
    assertThat(loads("connect")).isEqualTo(1);
    assertThat(cluster.console().command("GET", valueKey("connect"))).isNotNull();
  }

  @Test
  void herd_overManySlots_loadsEachKeyOnce() throws Exception {
    List<Cache<String, String>> caches = List.of(cache(), cache(), cache());
    int keys = 24;
    CountDownLatch open = new CountDownLatch(0);
    List<Future<String>> answers = new ArrayList<>();
    for (int caller = 0; caller < 4; caller++) {
      for (int key = 0; key < keys; key++) {
        for (Cache<String, String> cache : caches) {
          answers.add(call(cache, "herd-" + key, open));
        }
      }
    }
    for (Future<String> answer : answers) {
      assertThat(get(answer)).startsWith("value of herd-");
    }
    for (int key = 0; key < keys; key++) {
      assertThat(loads("herd-" + key)).as("loads of key %s", key).isEqualTo(1);
    }
    assertThat(failures()).isEmpty();
  }

  @Test
  void slotMoves_inMidLoad_valueIsStoredAtItsNewMaster() throws Exception {
    String key = "mid-load";
    Cache<String, String> loading = cache();
    Cache<String, String> other = cache();
    CountDownLatch gate = new CountDownLatch(1);
    Future<String> answer = call(loading, key, gate);
    until(() -> loads(key) == 1);
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    RedisServerProcess target = cluster.otherMaster(slot);
    cluster.migrate(slot, target).run();
    gate.countDown();

    assertThat(get(answer)).isEqualTo("value of " + key);
    assertThat(other.get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(1);
    assertThat(target.console().command("GET", valueKey(key))).isNotNull();
    assertThat(failures()).isEmpty();
  }

  @Test
  void slotMoves_stageByStageUnderAHerd_stillOneLoad() throws Exception {
    String key = "mid-herd";
    List<Cache<String, String>> caches = List.of(cache(), cache(), cache());
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    answers.add(call(caches.get(0), key, gate));
    until(() -> loads(key) == 1);
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    SlotMigration migration = cluster.migrate(slot, cluster.otherMaster(slot));
    join(answers, caches, key, gate);
    migration.begin();
    // The lease is there and no value: who asks now is told to try again.
    join(answers, caches, key, gate);
    migration.moveAll();
    join(answers, caches, key, gate);
    gate.countDown();
    join(answers, caches, key, gate);
    migration.finish();
    join(answers, caches, key, gate);

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    assertThat(loads(key)).isEqualTo(1);
    assertThat(failures()).isEmpty();
    assertThat(cluster.masterOf(valueKey(key)).console().command("GET", valueKey(key))).isNotNull();
  }

  private void join(
      List<Future<String>> answers,
      List<Cache<String, String>> caches,
      String key,
      CountDownLatch gate) {
    for (Cache<String, String> cache : caches) {
      answers.add(call(cache, key, gate));
      answers.add(call(cache, key, gate));
    }
  }

  @Test
  void slotOnItsWay_withoutEnd_coldKeyIsStillLoadedOnceAndStored() throws Exception {
    String key = "cold-on-its-way";
    Duration second = Duration.ofSeconds(1);
    List<Cache<String, String>> caches =
        List.of(cache(paddock(second)), cache(paddock(second)), cache(paddock(second)));
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    RedisServerProcess target = cluster.otherMaster(slot);
    SlotMigration migration = cluster.migrate(slot, target);
    migration.begin();
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    join(answers, caches, key, gate);
    until(() -> events.stream().anyMatch(CacheEvent.LeaseContended.class::isInstance));
    gate.countDown();

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    assertThat(loads(key)).isEqualTo(1);
    assertThat(failures()).isEmpty();
    caches.get(1).invalidate(key);
    assertThat(caches.get(2).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(2);
    migration.moveAll();
    migration.finish();
    assertThat(target.console().command("GET", valueKey(key))).isNotNull();
    assertThat(caches.get(0).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(2);
  }

  @Test
  void masterDies_inMidLoad_allAreAnswered() throws Exception {
    String key = "dies";
    // The lease may outlive the master on its replica, and nobody can free it in the outage.
    Duration second = Duration.ofSeconds(1);
    List<Cache<String, String>> caches =
        List.of(cache(paddock(second), second), cache(paddock(second), second));
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    answers.add(call(caches.get(0), key, gate));
    until(() -> loads(key) == 1);
    join(answers, caches, key, gate);
    until(() -> events.stream().anyMatch(CacheEvent.LeaseContended.class::isInstance));
    RedisServerProcess killed = cluster.killMasterOf(valueKey(key));
    gate.countDown();

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    // Without its store each process loads for itself: those that waited, and those that came.
    int inTheOutage = loads(key);
    assertThat(inTheOutage).isBetween(1, 1 + 2 * caches.size());
    cluster.awaitMaster(valueKey(key));
    until(
        () -> {
          caches.get(1).get(key, this::load);
          return cluster.console().command("GET", valueKey(key)) != null;
        });
    int healed = loads(key);
    until(() -> caches.get(0).getIfPresent(key) != null);
    assertThat(caches.get(0).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(healed);
    killed.restart();
    cluster.awaitStable();
  }
}
