/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.BulkLoader;
import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.CommandCounter;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bulk reads on a real server, whose commands are counted there. */
@Timeout(180)
final class BulkIT {
  private static final Duration LONG = Duration.ofMinutes(5);

  private static RedisServerProcess server;

  private final List<Paddock> paddocks = new ArrayList<>();
  private final Queue<CacheEvent> failures = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
  private final AtomicInteger runs = new AtomicInteger();
  private final ExecutorService callers = Executors.newCachedThreadPool();

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void learnScripts() {
    server.console().command("FLUSHALL");
    Cache<String, String> cache = cache();
    cache.getAll(keys(1), loader());
    cache.invalidate("k0");
    loads.clear();
    runs.set(0);
  }

  @AfterEach
  void close() {
    paddocks.forEach(Paddock::close);
    callers.shutdownNow();
    assertThat(failures).isEmpty();
  }

  private Cache<String, String> cache() {
    return cache(server.uri());
  }

  private Cache<String, String> cache(String uri) {
    Paddock paddock =
        Paddock.newBuilder()
            .store(uri)
            .commandTimeout(Duration.ofSeconds(30))
            .listener(
                event -> {
                  if (event instanceof CacheEvent.StoreFailed) {
                    failures.add(event);
                  }
                })
            .build();
    paddocks.add(paddock);
    return paddock
        .cache("c", Codecs.string())
        .maxWait(Duration.ofMinutes(1))
        .leaseTime(LONG)
        .maxLoadTime(LONG)
        .timeToLive(LONG)
        .maxBulkSize(1_000)
        .build();
  }

  private static List<String> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> "k" + i).toList();
  }

  private Map<String, String> load(Set<String> keys) {
    runs.incrementAndGet();
    Map<String, String> values = new HashMap<>();
    for (String key : keys) {
      loads.computeIfAbsent(key, absent -> new AtomicInteger()).incrementAndGet();
      values.put(key, "value of " + key);
    }
    return values;
  }

  private BulkLoader<String, String> loader() {
    return (keys, context) -> load(keys);
  }

  private static void assertAll(Map<String, String> values, List<String> keys) {
    assertThat(values.keySet()).containsExactlyElementsOf(keys);
    assertThat(values).allSatisfy((key, value) -> assertThat(value).isEqualTo("value of " + key));
  }

  private void assertLoadedOnce(int count) {
    assertThat(loads).hasSize(count);
    assertThat(loads.values()).allMatch(each -> each.get() == 1);
  }

  private <T> Future<T> call(Callable<T> body) {
    return callers.submit(body);
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(120, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 100, 1_000})
  void coldKeys_costOneReadTheirLeasesAndTheirFills_andWarmOnesOneRead(int count) {
    Cache<String, String> cache = cache();
    try (CommandCounter counter = CommandCounter.on(server)) {
      assertAll(cache.getAll(keys(count), loader()), keys(count));
      assertThat(counter.counts()).isEqualTo(Map.of("MGET", 1L, "EVALSHA", 2L * count));
      assertThat(runs).hasValue(1);
      assertLoadedOnce(count);

      counter.reset();
      assertAll(cache.getAll(keys(count), loader()), keys(count));
      assertThat(counter.counts()).isEqualTo(Map.of("MGET", 1L));
      assertThat(runs).hasValue(1);

      counter.reset();
      cache.invalidateAll(keys(count));
      assertThat(counter.counts()).isEqualTo(Map.of("EVALSHA", (long) count));
      assertThat(cache.lookup("k" + (count - 1)).isMissing()).isTrue();
    }
  }

  /** One round trip after the other would take 200 ms 2,001 times. */
  @Test
  void thousandColdKeys_overALongLine_arePipelined() {
    try (FaultProxy proxy = FaultProxy.to(server.port())) {
      Cache<String, String> cache = cache(proxy.uri());
      proxy.delayUp(Duration.ofMillis(100));
      proxy.delayDown(Duration.ofMillis(100));
      long start = System.nanoTime();
      assertAll(cache.getAll(keys(1_000), loader()), keys(1_000));
      Duration cold = Duration.ofNanos(System.nanoTime() - start);
      start = System.nanoTime();
      assertAll(cache.getAll(keys(1_000), loader()), keys(1_000));
      Duration warm = Duration.ofNanos(System.nanoTime() - start);
      // The figures of docs/bulk.md.
      System.out.println("1,000 keys, round trip 200 ms: cold " + cold + ", warm " + warm);
      assertThat(cold).isLessThan(Duration.ofSeconds(60));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {24, 100, 1_000})
  void oppositeOrder_inTwoProcesses_neverBlocks(int count) throws Exception {
    List<String> reversed = new ArrayList<>(keys(count));
    Collections.reverse(reversed);
    Cache<String, String> one = cache();
    Cache<String, String> other = cache();
    for (int round = 0; round < 5; round++) {
      loads.clear();
      Future<Map<String, String>> first = call(() -> one.getAll(keys(count), loader()));
      Future<Map<String, String>> second = call(() -> other.getAll(reversed, loader()));
      assertAll(get(first), keys(count));
      assertAll(get(second), reversed);
      assertLoadedOnce(count);
      one.invalidateAll(reversed);
    }
  }

  /** Two processes load a half each at the same time, and a third read waits for both. */
  @Test
  void halves_inTwoProcesses_areLoadedAtTheSameTime() throws Exception {
    Cache<String, String> one = cache();
    Cache<String, String> other = cache();
    CountDownLatch begun = new CountDownLatch(2);
    Future<Map<String, String>> first =
        call(() -> one.getAll(keys(50), meeting(begun), one.options()));
    Future<Map<String, String>> second =
        call(() -> other.getAll(keys(100).subList(50, 100), meeting(begun), other.options()));
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    Future<Map<String, String>> all = call(() -> one.getAll(keys(100), loader()));
    assertThat(get(first)).hasSize(50);
    assertThat(get(second)).hasSize(50);
    assertAll(get(all), keys(100));
    assertLoadedOnce(100);
  }

  private BulkLoader<String, String> meeting(CountDownLatch begun) {
    return (keys, context) -> {
      begun.countDown();
      assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
      return load(keys);
    };
  }

  @Test
  void invalidation_duringABulkLoad_isNotUndone() throws Exception {
    Cache<String, String> one = cache();
    Cache<String, String> other = cache();
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    Future<Map<String, String>> batch =
        call(
            () ->
                one.getAll(
                    keys(100),
                    (keys, context) -> {
                      loading.countDown();
                      finish.await();
                      return load(keys);
                    }));
    assertThat(loading.await(60, TimeUnit.SECONDS)).isTrue();
    other.invalidateAll(List.of("k7", "k77"));
    Future<String> late = call(() -> one.get("k7", key -> "newer"));
    finish.countDown();
    assertAll(get(batch), keys(100));
    assertThat(get(late)).isEqualTo("newer");
    assertThat(other.lookup("k77").isMissing()).isTrue();
    assertThat(other.lookup("k78").value()).isEqualTo("value of k78");
  }
}
