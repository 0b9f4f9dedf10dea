/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.BulkLoadException;
import dev.paddock.BulkLoader;
import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.Paddock;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.RecursiveLoadException;
import dev.paddock.testkit.InMemoryPaddock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The blocking calls, with real threads on real time. No test depends on how long anything takes.
 */
@Timeout(120)
final class BlockingCallTest {
  private final InMemoryPaddock memory = InMemoryPaddock.create();
  private final Cache<String, String> cache =
      memory
          .paddock()
          .cache("c", Codecs.string())
          .maxWait(Duration.ofMinutes(1))
          .coolDown(Duration.ZERO)
          .build();

  @AfterEach
  void close() {
    memory.close();
  }

  private static <T> FutureTask<T> start(Callable<T> call) {
    return start(call, new AtomicReference<>());
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

  private static Thread of(AtomicReference<Thread> thread) {
    return Objects.requireNonNull(thread.get());
  }

  private static void awaitWaiting(Thread thread) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                thread.getState() == Thread.State.WAITING
                    || thread.getState() == Thread.State.TIMED_WAITING);
  }

  @Test
  void loader_runsOnTheThreadThatCalled() {
    Thread caller = Thread.currentThread();
    AtomicReference<Thread> loader = new AtomicReference<>();
    String value =
        cache.get(
            "k",
            key -> {
              loader.set(Thread.currentThread());
              return "x";
            });
    assertThat(value).isEqualTo("x");
    assertThat(loader.get()).isSameAs(caller);
    assertThat(cache.get("k", key -> "never")).isEqualTo("x");
  }

  @Test
  void close_inMidLoad_leavesTheLoadersCallerItsValue() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    FutureTask<String> leader =
        start(
            () ->
                cache.get(
                    "k",
                    key -> {
                      loading.countDown();
                      closed.await();
                      return "x";
                    }));
    loading.await();
    AtomicReference<Thread> waiting = new AtomicReference<>();
    FutureTask<String> waiter = start(() -> cache.get("k", key -> "never"), waiting);
    awaitWaiting(of(waiting));
    memory.paddock().close();
    assertThatThrownBy(() -> result(waiter)).hasCauseInstanceOf(PaddockClosedException.class);
    assertThat(leader).isNotDone();
    closed.countDown();
    assertThat(result(leader)).isEqualTo("x");
    // Nothing was stored after the close.
    assertThat(memory.newProcess().cache("c", Codecs.string()).build().getIfPresent("k")).isNull();
  }

  @Test
  void close_calledByAListener_returns() throws Exception {
    AtomicReference<Paddock> toClose = new AtomicReference<>();
    try (Paddock paddock =
        Paddock.newBuilder()
            .store(InMemoryPaddock.storeOn(memory.redis(), "another"))
            .commandTimeout(Duration.ofMillis(200))
            .closeOnShutdown(false)
            .listener(
                event -> {
                  if (event instanceof CacheEvent.LoadStarted) {
                    Objects.requireNonNull(toClose.get()).close();
                  }
                })
            .build()) {
      toClose.set(paddock);
      Cache<String, String> closing = paddock.cache("closing", Codecs.string()).build();
      FutureTask<String> caller = start(() -> closing.get("k", key -> "x"));
      // It waits for itself until the limit, and then goes on; how the call ends does not matter.
      Awaitility.await().atMost(Duration.ofMinutes(1)).until(caller::isDone);
    }
  }

  @Test
  void manyThreads_shareOneLoad() throws Exception {
    AtomicInteger loads = new AtomicInteger();
    CountDownLatch asked = new CountDownLatch(64);
    List<FutureTask<String>> tasks = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      tasks.add(
          start(
              () -> {
                asked.countDown();
                return cache.get(
                    "k",
                    key -> {
                      loads.incrementAndGet();
                      asked.await();
                      return "x";
                    });
              }));
    }
    for (FutureTask<String> task : tasks) {
      assertThat(result(task)).isEqualTo("x");
    }
    assertThat(loads).hasValue(1);
  }

  @Test
  void interruptedWaiter_leavesAndKeepsItsFlagWhileTheOthersAreServed() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    FutureTask<String> leader =
        start(
            () ->
                cache.get(
                    "k",
                    key -> {
                      loading.countDown();
                      finish.await();
                      return "x";
                    }));
    loading.await();
    AtomicBoolean flag = new AtomicBoolean();
    AtomicReference<Thread> thread = new AtomicReference<>();
    FutureTask<String> waiter =
        start(
            () -> {
              try {
                return cache.get("k", key -> "never");
              } finally {
                flag.set(Thread.currentThread().isInterrupted());
              }
            },
            thread);
    FutureTask<String> other = start(() -> cache.get("k", key -> "never"));
    awaitWaiting(of(thread));
    of(thread).interrupt();
    assertThatThrownBy(() -> result(waiter))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(PaddockInterruptedException.class);
    assertThat(flag).isTrue();
    finish.countDown();
    assertThat(result(leader)).isEqualTo("x");
    assertThat(result(other)).isEqualTo("x");
  }

  @Test
  void interruptedLeader_endsItsOwnCallAndAFollowerLoads() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    AtomicReference<Thread> thread = new AtomicReference<>();
    AtomicBoolean flag = new AtomicBoolean();
    FutureTask<String> leader =
        start(
            () -> {
              try {
                return cache.get(
                    "k",
                    key -> {
                      loading.countDown();
                      new CountDownLatch(1).await();
                      return "never";
                    });
              } finally {
                flag.set(Thread.currentThread().isInterrupted());
              }
            },
            thread);
    loading.await();
    AtomicReference<Thread> followerThread = new AtomicReference<>();
    FutureTask<String> follower = start(() -> cache.get("k", key -> "by follower"), followerThread);
    awaitWaiting(of(followerThread));
    of(thread).interrupt();
    assertThat(result(follower)).isEqualTo("by follower");
    assertThatThrownBy(() -> result(leader)).hasCauseInstanceOf(PaddockInterruptedException.class);
    assertThat(flag).isTrue();
    assertThat(cache.getIfPresent("k")).isEqualTo("by follower");
  }

  @Test
  void leaderInterruptedAfterItsLoad_stillStoresItsValue() {
    String value =
        cache.get(
            "k",
            key -> {
              Thread.currentThread().interrupt();
              return "x";
            });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(value).isEqualTo("x");
    assertThat(cache.getIfPresent("k")).isEqualTo("x");
  }

  @Test
  void error_reachesItsThreadAsItIsAndTheWaitersAsAFailure() throws Exception {
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch finish = new CountDownLatch(1);
    FutureTask<String> leader =
        start(
            () ->
                cache.get(
                    "k",
                    key -> {
                      loading.countDown();
                      finish.await();
                      throw new StackOverflowError("deep");
                    }));
    loading.await();
    AtomicReference<Thread> thread = new AtomicReference<>();
    FutureTask<String> waiter = start(() -> cache.get("k", key -> "never"), thread);
    awaitWaiting(of(thread));
    finish.countDown();
    assertThatThrownBy(() -> result(leader)).hasCauseInstanceOf(StackOverflowError.class);
    assertThatThrownBy(() -> result(waiter))
        .cause()
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(StackOverflowError.class);
  }

  @Test
  void checkedException_isTheCauseOfAFailureOfItsOwnForEachCaller() {
    Exception cause = new java.io.IOException("disk");
    assertThatThrownBy(
            () ->
                cache.get(
                    "k",
                    key -> {
                      throw cause;
                    }))
        .isInstanceOf(LoadFailedException.class)
        .hasCause(cause)
        .hasMessageContaining("c:k");
  }

  @Test
  void loaderThatAsksForItsOwnKey_failsAtOnce() {
    assertThatThrownBy(() -> cache.get("k", key -> cache.get(key, inner -> "never")))
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(RecursiveLoadException.class);
    // Deeper in the stack as well, through another key.
    assertThatThrownBy(
            () -> cache.get("a", a -> cache.get("b", b -> cache.get("a", again -> "never"))))
        .hasRootCauseInstanceOf(RecursiveLoadException.class);
  }

  @Test
  void nullFromTheLoader_isNullForEveryCaller() {
    assertThat(cache.get("k", key -> null)).isNull();
    assertThat(cache.get("k", key -> "never")).isNull();
  }

  @Test
  void storm_ofCallersInterruptsAndInvalidations_answersEverybody() throws Exception {
    AtomicInteger running = new AtomicInteger();
    List<Throwable> unexpected = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(16);
    for (int t = 0; t < 16; t++) {
      int number = t;
      Thread thread =
          new Thread(
              () -> {
                for (int i = 0; i < 200; i++) {
                  try {
                    String key = "k" + i % 3;
                    if ((i + number) % 7 == 0) {
                      cache.invalidate(key);
                    }
                    String value =
                        cache.get(
                            key,
                            k -> {
                              running.incrementAndGet();
                              Thread.onSpinWait();
                              running.decrementAndGet();
                              return "x";
                            });
                    if (!"x".equals(value)) {
                      unexpected.add(new AssertionError("got " + value));
                    }
                  } catch (PaddockInterruptedException e) {
                    if (!Thread.interrupted()) {
                      unexpected.add(new AssertionError("the flag was lost", e));
                    }
                  } catch (RuntimeException | Error e) {
                    unexpected.add(e);
                  }
                }
                done.countDown();
              });
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
    for (int i = 0; done.getCount() > 0; i++) {
      threads.get(i % threads.size()).interrupt();
      if (done.await(1, TimeUnit.MILLISECONDS) || i > 100_000) {
        break;
      }
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).as("all callers came back").isTrue();
    assertThat(unexpected).isEmpty();
    assertThat(running).hasValue(0);
  }

  @Test
  void asynchronousLoadThatNeverEnds_isGivenUpForABlockingCallerToo() throws Exception {
    Cache<String, String> bounded =
        memory
            .paddock()
            .cache("bounded", Codecs.string())
            .maxLoadTime(Duration.ofMillis(100))
            .build();
    FutureTask<String> one =
        start(() -> bounded.get("k", Loader.async(key -> new CompletableFuture<>())));
    FutureTask<Map<String, String>> several =
        start(
            () ->
                bounded.getAll(
                    List.of("l", "m"), BulkLoader.async(keys -> new CompletableFuture<>())));
    assertThatThrownBy(() -> result(one)).hasCauseInstanceOf(FillTimeoutException.class);
    assertThatThrownBy(() -> result(several)).hasCauseInstanceOf(BulkLoadException.class);
  }

  @Test
  @SuppressWarnings("NullAway") // What a loader without null checks may do.
  void asynchronousLoaderWithoutAStage_failsWithAWordOnWhy() {
    assertThatThrownBy(() -> cache.get("k", Loader.async(key -> null)))
        .isInstanceOf(LoadFailedException.class)
        .cause()
        .hasMessageContaining("c:k")
        .hasMessageContaining("stage");
  }
}
