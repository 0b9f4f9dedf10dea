/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.BulkLoadException;
import dev.paddock.BulkLoader;
import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.LoadFailedException;
import dev.paddock.Lookup;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.RecursiveLoadException;
import dev.paddock.testkit.InMemoryPaddock;
import dev.paddock.testkit.RequestFate;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bulk reads that block, with real threads on real time. */
@Timeout(120)
final class BlockingBulkTest {
  private final InMemoryPaddock memory = InMemoryPaddock.create();
  private final Cache<String, String> cache =
      memory
          .paddock()
          .cache("c", Codecs.string())
          .maxWait(Duration.ofMinutes(1))
          .coolDown(Duration.ZERO)
          .maxBulkSize(10)
          .build();

  @AfterEach
  void close() {
    memory.close();
  }

  private static <T> FutureTask<T> start(Callable<T> call, AtomicReference<Thread> thread) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread started = new Thread(task);
    started.setDaemon(true);
    thread.set(started);
    started.start();
    return task;
  }

  private static <T> T result(FutureTask<T> task) throws Exception {
    return task.get(60, TimeUnit.SECONDS);
  }

  private static void awaitWaiting(AtomicReference<Thread> thread) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> Objects.requireNonNull(thread.get()).getState() == Thread.State.WAITING);
  }

  private static List<String> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> "k" + i).toList();
  }

  private static Map<String, String> echo(Set<String> keys) {
    Map<String, String> values = new HashMap<>();
    keys.forEach(key -> values.put(key, "v" + key));
    return values;
  }

  private static BulkLoader<String, String> never() {
    return (keys, context) -> {
      throw new AssertionError("loaded");
    };
  }

  @Test
  void loader_runsOnTheThreadThatCalled_chunkByChunk() {
    List<Thread> threads = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    Map<String, String> values =
        cache.getAll(
            keys(25),
            (keys, context) -> {
              threads.add(Thread.currentThread());
              sizes.add(keys.size());
              return echo(keys);
            });
    assertThat(values.keySet()).containsExactlyElementsOf(keys(25));
    assertThat(threads).containsOnly(Thread.currentThread());
    assertThat(sizes).containsExactly(10, 10, 5);
    assertThat(cache.getAll(keys(25), never())).isEqualTo(values);
  }

  @Test
  void checkedException_isTheCauseOfAFailureForEachKey() {
    Exception cause = new IOException("disk");
    assertThatThrownBy(
            () ->
                cache.getAll(
                    keys(3),
                    (keys, context) -> {
                      throw cause;
                    }))
        .isInstanceOf(BulkLoadException.class)
        .hasMessageContaining("3 of 3 keys of cache c")
        .cause()
        .isInstanceOf(LoadFailedException.class)
        .hasCause(cause);
  }

  @Test
  void loaderThatAsksForOneOfItsKeys_failsAtOnce() {
    assertThatThrownBy(
            () ->
                cache.getAll(
                    keys(3),
                    (keys, context) -> {
                      assertThat(cache.get("other", key -> "fine")).isEqualTo("fine");
                      return Map.of("k2", Objects.requireNonNull(cache.get("k2", key -> "never")));
                    }))
        .hasRootCauseInstanceOf(RecursiveLoadException.class);
    assertThatThrownBy(() -> cache.get("k1", key -> cache.getAll(keys(3), never()).get("k1")))
        .hasRootCauseInstanceOf(RecursiveLoadException.class);
    assertThat(cache.get("k2", key -> "afterwards")).isEqualTo("afterwards");
  }

  @Test
  void error_reachesItsThreadAsItIs_andTheWaitersAsAFailure() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    FutureTask<Map<String, String>> leader =
        start(
            () ->
                cache.getAll(
                    keys(3),
                    (keys, context) -> {
                      loading.countDown();
                      finish.await();
                      throw new StackOverflowError("deep");
                    }),
            new AtomicReference<>());
    loading.await();
    AtomicReference<Thread> thread = new AtomicReference<>();
    FutureTask<String> waiter = start(() -> cache.get("k1", key -> "never"), thread);
    awaitWaiting(thread);
    finish.countDown();
    assertThatThrownBy(() -> result(leader)).hasCauseInstanceOf(StackOverflowError.class);
    assertThatThrownBy(() -> result(waiter))
        .cause()
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(StackOverflowError.class);
  }

  @Test
  void interruptedWaiter_leavesAndKeepsItsFlag() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    FutureTask<String> single =
        start(
            () ->
                cache.get(
                    "k1",
                    key -> {
                      loading.countDown();
                      finish.await();
                      return "x";
                    }),
            new AtomicReference<>());
    loading.await();
    AtomicReference<Thread> thread = new AtomicReference<>();
    AtomicReference<Boolean> flag = new AtomicReference<>();
    FutureTask<Map<String, String>> batch =
        start(
            () -> {
              try {
                return cache.getAll(keys(3), (keys, context) -> echo(keys));
              } finally {
                flag.set(Thread.currentThread().isInterrupted());
              }
            },
            thread);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> cache.lookup("k2").state() == Lookup.State.PRESENT);
    Objects.requireNonNull(thread.get()).interrupt();
    assertThatThrownBy(() -> result(batch))
        .cause()
        .isInstanceOf(PaddockInterruptedException.class)
        .hasMessageContaining("3 keys of cache c");
    assertThat(flag).hasValue(true);
    finish.countDown();
    assertThat(result(single)).isEqualTo("x");
    assertThat(cache.getAll(List.of("k0", "k2"), never())).hasSize(2);
  }

  @Test
  void interruptedBeforeItsLoad_givesItsLeasesBack() throws Exception {
    Cache<String, String> mine =
        memory
            .paddock()
            .cache("d", Codecs.string())
            .maxWait(Duration.ofMinutes(1))
            .maxLoadTime(Duration.ofHours(1))
            .build();
    Cache<String, String> other =
        memory.newProcess().cache("d", Codecs.string()).maxWait(Duration.ofMinutes(1)).build();
    // k1 is never known to be ours or another's, so k0 and k2 wait for their loader.
    memory
        .redis()
        .setInterceptor(
            request ->
                request.runs("-- GET_OR_ACQUIRE:")
                        && new String(request.keys().get(0), UTF_8).equals("d:k1")
                    ? RequestFate.LOST_REQUEST
                    : RequestFate.DELIVERED);
    AtomicReference<Thread> thread = new AtomicReference<>();
    FutureTask<Map<String, String>> batch = start(() -> mine.getAll(keys(3), never()), thread);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                memory.redis().snapshot().keySet().stream()
                        .filter(key -> key.toString().startsWith("pdk:"))
                        .count()
                    == 2);
    Objects.requireNonNull(thread.get()).interrupt();
    assertThatThrownBy(() -> result(batch)).hasCauseInstanceOf(PaddockInterruptedException.class);
    assertThat(other.get("k0", key -> "by another")).isEqualTo("by another");
    assertThat(other.get("k2", key -> "by another")).isEqualTo("by another");
  }

  @Test
  void interruptedLoader_endsItsOwnCall_andFollowersLoad() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    FutureTask<Map<String, String>> batch =
        start(
            () ->
                cache.getAll(
                    keys(3),
                    (keys, context) -> {
                      loading.countDown();
                      new CountDownLatch(1).await();
                      return echo(keys);
                    }),
            thread);
    loading.await();
    AtomicReference<Thread> second = new AtomicReference<>();
    FutureTask<Map<String, String>> other =
        start(() -> cache.getAll(keys(3), (keys, context) -> echo(keys)), second);
    awaitWaiting(second);
    Objects.requireNonNull(thread.get()).interrupt();
    assertThatThrownBy(() -> result(batch)).hasCauseInstanceOf(PaddockInterruptedException.class);
    assertThat(result(other)).isEqualTo(echo(Set.copyOf(keys(3))));
  }

  @Test
  void close_inMidLoad_leavesTheLoaderItsEnd() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    FutureTask<Map<String, String>> batch =
        start(
            () ->
                cache.getAll(
                    keys(3),
                    (keys, context) -> {
                      loading.countDown();
                      closed.await();
                      return echo(keys);
                    }),
            new AtomicReference<>());
    loading.await();
    memory.paddock().close();
    closed.countDown();
    assertThat(result(batch)).isEqualTo(echo(Set.copyOf(keys(3))));
    assertThatThrownBy(() -> cache.getAll(keys(3), never()))
        .isInstanceOf(PaddockClosedException.class);
    assertThatThrownBy(() -> cache.invalidateAll(keys(3)))
        .isInstanceOf(PaddockClosedException.class);
    // Nothing was stored after the close.
    assertThat(memory.newProcess().cache("c", Codecs.string()).build().getIfPresent("k1")).isNull();
  }

  @Test
  void invalidateAll_hasHappenedWhenItReturns() {
    cache.getAll(keys(25), (keys, context) -> echo(keys));
    cache.invalidateAll(keys(24));
    assertThat(keys(24)).allMatch(key -> cache.lookup(key).isMissing());
    assertThat(cache.getIfPresent("k24")).isEqualTo("vk24");
    cache.invalidateAll(List.of());
  }

  @Test
  void storm_ofBatchesInAnyOrder_answersEverybodyAndLoadsEachKeyOnce() throws Exception {
    Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
    List<FutureTask<Map<String, String>>> tasks = new ArrayList<>();
    List<Cache<String, String>> caches = new ArrayList<>(List.of(cache));
    for (int i = 0; i < 2; i++) {
      caches.add(
          memory
              .newProcess()
              .cache("c", Codecs.string())
              .maxWait(Duration.ofMinutes(1))
              .maxBulkSize(10)
              .build());
    }
    for (int i = 0; i < 30; i++) {
      Cache<String, String> mine = caches.get(i % caches.size());
      List<String> order = new ArrayList<>(keys(30));
      Collections.rotate(order, i * 7);
      if (i % 2 == 0) {
        Collections.reverse(order);
      }
      tasks.add(
          start(
              () ->
                  mine.getAll(
                      order,
                      (keys, context) -> {
                        keys.forEach(
                            key ->
                                loads
                                    .computeIfAbsent(key, absent -> new AtomicInteger())
                                    .incrementAndGet());
                        return echo(keys);
                      }),
              new AtomicReference<>()));
    }
    for (FutureTask<Map<String, String>> task : tasks) {
      assertThat(result(task)).isEqualTo(echo(Set.copyOf(keys(30))));
    }
    assertThat(loads).hasSize(30);
    assertThat(loads.values()).allMatch(count -> count.get() == 1);
  }
}
