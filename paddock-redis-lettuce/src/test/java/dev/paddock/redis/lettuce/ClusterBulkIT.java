/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.LIMIT;
import static dev.paddock.redis.lettuce.Transports.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.BulkLoader;
import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.CommandCounter;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisClusterProcess.SlotMigration;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk reads on a real cluster, whose commands are counted on each master. */
@Timeout(180)
final class ClusterBulkIT {
  private static final Duration LONG = Duration.ofMinutes(5);

  private static RedisClusterProcess cluster;

  private final List<Paddock> paddocks = new ArrayList<>();
  private final Queue<CacheEvent> failures = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
  private final AtomicInteger runs = new AtomicInteger();
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
    assertThat(failures).isEmpty();
  }

  private Cache<String, String> cache(String name) {
    Paddock paddock =
        Paddock.newBuilder()
            .store(cluster.uri())
            .connectTimeout(LIMIT)
            .commandTimeout(LIMIT)
            .listener(
                event -> {
                  if (event instanceof CacheEvent.StoreFailed) {
                    failures.add(event);
                  }
                })
            .build();
    paddocks.add(paddock);
    return paddock
        .cache(name, Codecs.string())
        .maxWait(Duration.ofMinutes(1))
        .leaseTime(LONG)
        .maxLoadTime(LONG)
        .timeToLive(LONG)
        .maxBulkSize(1_000)
        .build();
  }

  private static List<String> keys(String tag, int count) {
    return IntStream.range(0, count).mapToObj(i -> tag + "k" + i).toList();
  }

  private BulkLoader<String, String> loader() {
    return (keys, context) -> {
      runs.incrementAndGet();
      Map<String, String> values = new HashMap<>();
      for (String key : keys) {
        loads.computeIfAbsent(key, absent -> new AtomicInteger()).incrementAndGet();
        values.put(key, "value of " + key);
      }
      return values;
    };
  }

  private static void assertAll(Map<String, String> values, List<String> keys) {
    assertThat(values.keySet()).containsExactlyElementsOf(keys);
    assertThat(values).allSatisfy((key, value) -> assertThat(value).isEqualTo("value of " + key));
  }

  private void assertLoadedOnce(int count) {
    assertThat(loads).hasSize(count);
    assertThat(loads.values()).allMatch(each -> each.get() == 1);
  }

  /** Each master's scripts known, so that no command is sent twice. */
  private void learnScripts(Cache<String, String> cache) {
    List<String> spread = keys("warm", 200);
    cache.getAll(spread, loader());
    cache.invalidateAll(spread);
    loads.clear();
    runs.set(0);
  }

  private static Map<String, Long> counts(List<CommandCounter> counters) {
    Map<String, Long> all = new TreeMap<>();
    for (CommandCounter counter : counters) {
      counter.counts().forEach((name, count) -> all.merge(name, count, Long::sum));
    }
    // What nodes and clients say to each other besides.
    all.keySet().retainAll(Set.of("GET", "MGET", "EVAL", "EVALSHA"));
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 100, 1_000})
  void coldKeys_areReadSlotBySlot_andLoadedByOneCall(int count) {
    Cache<String, String> cache = cache("spread" + count);
    learnScripts(cache);
    List<String> keys = new ArrayList<>(keys("{a}", count / 4));
    keys.addAll(keys("", count - count / 4));
    Map<Integer, Integer> slots = new TreeMap<>();
    keys.forEach(
        key ->
            slots.merge(
                RedisClusterProcess.slotOf(bytes(cache.name() + ":" + key)), 1, Integer::sum));
    long several = slots.values().stream().filter(size -> size > 1).count();
    List<CommandCounter> counters = new ArrayList<>();
    try {
      cluster.masters().forEach(master -> counters.add(CommandCounter.on(master)));
      assertAll(cache.getAll(keys, loader()), keys);
      Map<String, Long> cold = new TreeMap<>(Map.of("MGET", several, "EVALSHA", 2L * count));
      if (several < slots.size()) {
        cold.put("GET", slots.size() - several);
      }
      assertThat(counts(counters)).isEqualTo(cold);
      assertThat(runs).hasValue(1);
      assertLoadedOnce(count);

      counters.forEach(CommandCounter::reset);
      assertAll(cache.getAll(keys, loader()), keys);
      cold.remove("EVALSHA");
      assertThat(counts(counters)).isEqualTo(cold);
      assertThat(runs).hasValue(1);

      cache.invalidateAll(keys);
      assertThat(cache.lookup(keys.get(count - 1)).isMissing()).isTrue();
    } finally {
      counters.forEach(CommandCounter::close);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 100, 1_000})
  void oppositeOrder_inTwoProcesses_neverBlocks(int count) throws Exception {
    List<String> keys = keys("", count);
    List<String> reversed = new ArrayList<>(keys);
    Collections.reverse(reversed);
    Cache<String, String> one = cache("opposite");
    Cache<String, String> other = cache("opposite");
    for (int round = 0; round < 3; round++) {
      loads.clear();
      Future<Map<String, String>> first = callers.submit(() -> one.getAll(keys, loader()));
      Future<Map<String, String>> second = callers.submit(() -> other.getAll(reversed, loader()));
      assertAll(first.get(120, TimeUnit.SECONDS), keys);
      assertAll(second.get(120, TimeUnit.SECONDS), reversed);
      assertLoadedOnce(count);
      one.invalidateAll(reversed);
    }
  }

  @Test
  void slotOnTheMove_withKeysAtBothEnds_isReadKeyByKey() {
    Cache<String, String> cache = cache("move");
    List<String> keys = keys("{m}", 10);
    assertAll(cache.getAll(keys.subList(0, 8), loader()), keys.subList(0, 8));
    int slot = RedisClusterProcess.slotOf(bytes("move:{m}k0"));
    RedisServerProcess target = cluster.otherMaster(slot);
    SlotMigration migration = cluster.migrate(slot, target);
    migration.begin();
    assertAll(cache.getAll(keys.subList(0, 8), loader()), keys.subList(0, 8));
    migration.move(bytes("move:{m}k1"), bytes("move:{m}k2"));
    // Eight at one end or the other, and two that are nowhere yet.
    assertAll(cache.getAll(keys, loader()), keys);
    assertLoadedOnce(10);
    migration.moveAll();
    assertAll(cache.getAll(keys, loader()), keys);
    migration.finish();
    assertAll(cache.getAll(keys, loader()), keys);
    assertLoadedOnce(10);
  }
}
