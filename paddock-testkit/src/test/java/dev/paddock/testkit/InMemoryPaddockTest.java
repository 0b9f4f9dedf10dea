/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class InMemoryPaddockTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final AtomicInteger loads = new AtomicInteger();

  private Cache<String, String> cache(Paddock paddock) {
    return paddock
        .cache("titles", Codecs.string())
        .timeToLive(Duration.ofMinutes(1))
        .jitter(0)
        .loader((String key) -> key + " " + loads.incrementAndGet())
        .build();
  }

  @Test
  void virtual_blockingCalls_hitUntilTheTestLetsTimePass() throws Exception {
    try (InMemoryPaddock memory = InMemoryPaddock.virtual(1)) {
      Cache<String, String> titles = cache(memory.paddock());
      assertThat(memory.<String>call(() -> titles.get("a"))).isEqualTo("a 1");
      assertThat(memory.<String>call(() -> titles.get("a"))).isEqualTo("a 1");
      memory.environment().advance(Duration.ofMinutes(2));
      assertThat(memory.<String>call(() -> titles.get("a"))).isEqualTo("a 2");
    }
  }

  @Test
  void virtual_processesOfOneFleet_shareOneLoad() {
    try (InMemoryPaddock memory = InMemoryPaddock.virtual(2)) {
      Cache<String, String> first = cache(memory.paddock());
      Cache<String, String> second = cache(memory.newProcess());
      List<CompletableFuture<String>> all = List.of(first.getAsync("a"), second.getAsync("a"));
      for (CompletableFuture<String> each : all) {
        assertThat(memory.environment().await(each, Duration.ofSeconds(10))).isEqualTo("a 1");
      }
      assertThat(memory.redis().commandCounts()).containsKey("GET");
    }
  }

  @Test
  void virtual_sameSeed_takesTheSameCourse() {
    assertThat(course(5)).isEqualTo(course(5));
  }

  private static String course(long seed) {
    StringBuilder course = new StringBuilder();
    try (InMemoryPaddock memory = InMemoryPaddock.virtual(seed)) {
      memory
          .redis()
          .setInterceptor(
              request -> {
                course.append(request.client()).append(' ').append(request.name()).append(' ');
                request.args().forEach(arg -> course.append(new String(arg, ISO_8859_1)));
                course.append(memory.environment().elapsedNanos()).append('\n');
                return RequestFate.DELIVERED.delayed(Duration.ofMillis(3), Duration.ofMillis(2));
              });
      Cache<String, String> first =
          memory.paddock().cache("c", Codecs.string()).loader((String key) -> key).build();
      Cache<String, String> second =
          memory.newProcess().cache("c", Codecs.string()).loader((String key) -> key).build();
      for (int i = 0; i < 20; i++) {
        var unusedFirst = first.getAsync("k" + i % 3);
        var unusedSecond = second.getAsync("k" + i % 4);
        memory.environment().advance(Duration.ofMillis(400));
      }
    }
    return course.toString();
  }

  @Test
  void virtual_storeThatIsSlowToOpen_isOpenedAllTheSame() {
    VirtualEnvironment environment = new VirtualEnvironment(3);
    InMemoryRedis redis = new InMemoryRedis(environment);
    redis.setInterceptor(
        request -> RequestFate.DELIVERED.delayed(Duration.ofSeconds(1), Duration.ofSeconds(1)));
    Paddock paddock =
        Paddock.newBuilder()
            .store(InMemoryPaddock.storeOn(redis, "client"))
            .environment(environment)
            .closeOnShutdown(false)
            .build();
    assertThat(environment.elapsedNanos()).isEqualTo(Duration.ofSeconds(2).toNanos());
    environment.await(paddock.closeAsync(), Duration.ofMinutes(1));
  }

  @Test
  void call_bodyThatThrows_throwsTheSame() {
    try (InMemoryPaddock memory = InMemoryPaddock.virtual(4)) {
      IOException planted = new IOException("planted");
      assertThatThrownBy(
              () ->
                  memory.call(
                      () -> {
                        throw planted;
                      }))
          .isSameAs(planted);
      AssertionError error = new AssertionError("planted");
      assertThatThrownBy(
              () ->
                  memory.call(
                      () -> {
                        throw error;
                      }))
          .isSameAs(error);
    }
  }

  @Test
  void create_realTime_worksAndLeavesNoThread() throws Exception {
    try (InMemoryPaddock memory = InMemoryPaddock.create()) {
      Cache<String, String> titles = cache(memory.paddock());
      Cache<String, String> others = cache(memory.newProcess());
      assertThat(titles.get("a")).isEqualTo("a 1");
      assertThat(others.get("a")).isEqualTo("a 1");
      assertThat(memory.<String>call(() -> titles.get("b"))).isEqualTo("b 2");
      titles.invalidate("a");
      assertThat(others.get("a")).isEqualTo("a 3");
      assertThatThrownBy(memory::environment)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("virtual(seed)");
    }
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.isAlive() && isTimer(thread))
                    .isEmpty());
  }

  private static boolean isTimer(Thread thread) {
    return thread.getName().startsWith("paddock-timer")
        || thread.getName().startsWith("paddock-test-timer");
  }
}
