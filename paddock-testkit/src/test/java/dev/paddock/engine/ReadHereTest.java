/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.redis.RedisFillStore;
import dev.paddock.redis.RedisTransport;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RealTimeEnvironment;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which reads a store may block for, and on which thread. No test depends on how long it takes. */
@Timeout(120)
final class ReadHereTest {
  private record Read(String key, boolean here, Thread thread) {}

  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private final InMemoryRedis redis = new InMemoryRedis(environment);
  private final ConcurrentLinkedQueue<Read> reads = new ConcurrentLinkedQueue<>();
  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Paddock paddock =
      Paddock.newBuilder()
          .store((env, options) -> RedisFillStore.open(transport(), env, options))
          .environment(environment)
          .commandTimeout(Duration.ofMinutes(1))
          .build();
  private final Cache<String, String> cache =
      paddock.<String, String>cache("c", Codecs.string()).build();

  @AfterEach
  void close() {
    gate.countDown();
    paddock.close();
  }

  /** Blocks in getHere until the reply is there, and for the key "slow" until the gate opens. */
  private RedisTransport transport() {
    return (RedisTransport)
        Proxy.newProxyInstance(
            RedisTransport.class.getClassLoader(),
            new Class<?>[] {RedisTransport.class},
            (proxy, method, args) -> {
              boolean here = method.getName().equals("getHere");
              if (!here && !method.getName().equals("get")) {
                return method.invoke(redis, args);
              }
              String key = new String((byte[]) args[0], StandardCharsets.UTF_8);
              reads.add(new Read(key, here, Thread.currentThread()));
              CompletionStage<byte @Nullable []> reply = redis.get((byte[]) args[0]);
              if (here) {
                if (key.endsWith("slow")) {
                  entered.countDown();
                  gate.await();
                }
                reply.toCompletableFuture().join();
              }
              return reply;
            });
  }

  private List<Read> readsOf(String key) {
    return reads.stream().filter(read -> read.key().equals("c:" + key)).toList();
  }

  private static <T> T result(FutureTask<T> task) throws Exception {
    return task.get(60, TimeUnit.SECONDS);
  }

  private FutureTask<String> reader(String key) {
    FutureTask<String> task = new FutureTask<>(() -> cache.get(key, k -> "loaded"));
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  @Test
  void blockingCall_readsOnItsOwnThread() {
    cache.put("k", "v");
    assertThat(cache.get("k", key -> "loaded")).isEqualTo("v");
    assertThat(cache.getIfPresent("k")).isEqualTo("v");
    assertThat(cache.lookup("k").value()).isEqualTo("v");

    Read mine = new Read("c:k", true, Thread.currentThread());
    assertThat(reads).containsExactly(mine, mine, mine);
  }

  @Test
  void asynchronousCall_neverReadsWhereItMayBlock() throws Exception {
    cache.put("k", "v");
    CompletableFuture<String> present = cache.getIfPresentAsync("k");
    assertThat(present.get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(cache.getAsync("k", key -> "loaded").get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(cache.getAsync("cold", key -> "loaded").get(60, TimeUnit.SECONDS))
        .isEqualTo("loaded");

    assertThat(reads).isNotEmpty().noneMatch(Read::here);
  }

  @Test
  void whoComesDuringARead_isNotServedByTheThreadThatReads() throws Exception {
    cache.put("slow", "v");
    cache.put("other", "w");
    FutureTask<String> first = reader("slow");
    assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
    // Neither another key nor another caller of this one is held up by a lock, only by the reply.
    assertThat(cache.getIfPresent("other")).isEqualTo("w");
    CompletableFuture<String> second = cache.getIfPresentAsync("slow");
    assertThat(second).isNotDone();
    gate.countDown();

    assertThat(result(first)).isEqualTo("v");
    assertThat(second.get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(readsOf("slow")).extracting(Read::here).containsExactly(true, false);
  }

  @Test
  void readThatOthersWaitFor_isStillTheirs_afterAnInvalidationInBetween() throws Exception {
    cache.put("slow", "old");
    FutureTask<String> first = reader("slow");
    assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
    cache.invalidate("slow");
    FutureTask<String> second = reader("slow");
    gate.countDown();

    assertThat(result(first)).isEqualTo("old");
    assertThat(result(second)).isEqualTo("loaded");
  }
}
