/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Otherwise;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.InMemoryPaddock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Loads that fail or take too long while an old value is at hand. */
final class FailSafeTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private static CacheBuilder<String, String> failSafe(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).failSafeFor(MINUTE);
  }

  private static CacheBuilder<String, String> soft(CacheBuilder<String, String> builder) {
    return failSafe(builder).softLoadTimeout(Duration.ofMillis(100));
  }

  private static CacheBuilder<String, String> hard(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).hardLoadTimeout(Duration.ofMillis(500));
  }

  /** A process in whose cache "k" is "old" and past its TTL. */
  private Node withOldValue(Node node) {
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    return node;
  }

  // ---------------------------------------------------------------- fail-safe

  @Test
  void failingLoad_servesTheOldValue_andLoadsAreThrottled() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    fleet.source.failure = new IllegalStateException("source is down");
    for (int i = 0; i < 40; i++) {
      Answer answer = node.get("k");
      fleet.advance(Duration.ofMillis(250));
      assertThat(answer.value()).isEqualTo("old");
    }
    // In 10 s, each load 0.2 s and a cool-down of 1 s after it.
    assertThat(fleet.source.loads).isBetween(7, 9);
    assertThat(node.events(CacheEvent.Degraded.class))
        .hasSize(40)
        .allMatch(told -> told.how() == CacheEvent.Degraded.How.STALE);
    assertThat(node.events(CacheEvent.StaleServed.class)).hasSize(40);
    fleet.source.failure = null;
    fleet.advance(Duration.ofSeconds(2));
    Answer healed = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(healed.value()).isEqualTo("v1");
  }

  @Test
  void oldValue_isServedToNobodyBeforeTheLoadHasFailed() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(answer.took()).isGreaterThanOrEqualTo(Fleet.LOAD);
  }

  @Test
  void otherProcessesThatWait_getTheOldValueToo() {
    Node a = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    Node b = fleet.node("b", FailSafeTest::failSafe);
    fleet.source.failure = new IllegalStateException("source is down");
    Answer loading = a.get("k");
    fleet.env.run();
    Answer waiting = b.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(loading.value()).isEqualTo("old");
    assertThat(waiting.value()).isEqualTo("old");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void pastItsLimit_theFailureIsTold() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    fleet.advance(MINUTE);
    fleet.source.failure = new IllegalStateException("source is down");
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.error).isInstanceOf(LoadFailedException.class);
  }

  @Test
  void oldValueThatPassesItsLimitDuringTheLoad_isNotServed() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    fleet.advance(MINUTE.minusMillis(1_100));
    fleet.source.failure = new IllegalStateException("source is down");
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.error).isInstanceOf(LoadFailedException.class);
  }

  @Test
  void callThatIsAlwaysFresh_getsTheFailure() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    fleet.source.failure = new IllegalStateException("source is down");
    Answer answer =
        node.watch(
            "k",
            node.cache.getAsync("k", fleet.source.loader(), node.cache.options().alwaysFresh()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.error).isInstanceOf(LoadFailedException.class);
  }

  @Test
  void valueThatWasInvalidatedWhileTheLoadFailed_isStillAllowedToCallersBeforeIt_onlyToThem() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    fleet.source.failure = new IllegalStateException("source is down");
    Answer before = node.get("k");
    fleet.advance(Duration.ofMillis(100));
    node.invalidate("k");
    Answer after = node.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(before.value()).isEqualTo("old");
    assertThat(after.error).isInstanceOf(LoadFailedException.class);
  }

  @Test
  void loadThatIsGivenUp_servesTheOldValue() {
    Node node = withOldValue(fleet.node("a", b -> failSafe(b).maxLoadTime(Duration.ofSeconds(3))));
    fleet.source.takes = Duration.ofSeconds(8);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(answer.value()).isEqualTo("old");
    assertThat(answer.took()).isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_010));
  }

  @Test
  void waitThatIsTooLong_servesTheOldValueBeforeAnyOtherChoice() {
    Node a = withOldValue(fleet.node("a", FailSafeTest::failSafe));
    Node b =
        fleet.node(
            "b",
            s ->
                failSafe(s)
                    .maxWait(Duration.ofMillis(300))
                    .otherwise(Otherwise.fallback(k -> "fallback")));
    fleet.source.takes = Duration.ofSeconds(2);
    a.get("k");
    fleet.env.run();
    Answer waiting = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(waiting.value()).isEqualTo("old");
    assertThat(waiting.took()).isBetween(Duration.ofMillis(300), Duration.ofMillis(310));
    fleet.advance(Duration.ofSeconds(2));
  }

  @Test
  void store_keepsValuesForTheLongerOfBothWindows() {
    Node a = fleet.node("a", b -> failSafe(b).serveStaleFor(Duration.ofSeconds(5)));
    a.put("k", "x");
    assertThat(requireNonNull(fleet.stored("k")).ttlMillis()).isBetween(69_900L, 70_000L);
    Node b = fleet.node("b", s -> failSafe(s).serveStaleFor(Duration.ofMinutes(2)));
    b.put("k", "x");
    assertThat(requireNonNull(fleet.stored("k")).ttlMillis()).isBetween(129_900L, 130_000L);
  }

  @Test
  void pastServeStaleFor_callersWaitForTheLoad_andGetTheOldValueIfItFails() {
    Node node =
        fleet.node("a", b -> failSafe(b).serveStaleFor(Duration.ofSeconds(5)).coolDown(MINUTE));
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(16));
    fleet.source.failure = new IllegalStateException("source is down");
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("old");
    assertThat(answer.took()).isGreaterThanOrEqualTo(Fleet.LOAD);
  }

  // ---------------------------------------------------------------- soft

  @Test
  void slowLoad_isLeftAfterTheSoftTimeout_andGoesOn() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::soft));
    fleet.source.takes = Duration.ofMillis(400);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(answer.value()).isEqualTo("old");
    assertThat(answer.took()).isEqualTo(Duration.ofMillis(100));
    fleet.advance(Duration.ofMillis(300));
    assertThat(node.lookup("k").value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void fastLoad_isWaitedFor() {
    Node node = withOldValue(fleet.node("a", FailSafeTest::soft));
    fleet.source.takes = Duration.ofMillis(50);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(90));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(node.events(CacheEvent.StaleServed.class)).isEmpty();
  }

  @Test
  void softTimeout_appliesToWaitersOfOtherProcesses_andToEachCallByItself() {
    Node a = withOldValue(fleet.node("a", FailSafeTest::soft));
    Node b = fleet.node("b", FailSafeTest::soft);
    fleet.source.takes = Duration.ofMillis(500);
    Answer first = a.get("k");
    fleet.advance(Duration.ofMillis(50));
    Answer second = a.get("k");
    Answer remote = b.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(first.took()).isEqualTo(Duration.ofMillis(100));
    assertThat(second.took()).isEqualTo(Duration.ofMillis(100));
    assertThat(remote.took()).isEqualTo(Duration.ofMillis(100));
    assertThat(first.value() + second.value() + remote.value()).isEqualTo("oldoldold");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void withAStaleWindow_theSoftTimeoutReplacesServingAtOnce() {
    Node node =
        fleet.node(
            "a", b -> Fleet.usual(b).serveStaleFor(MINUTE).softLoadTimeout(Duration.ofMillis(100)));
    withOldValue(node);
    fleet.source.takes = Duration.ofMillis(50);
    Answer fresh = node.get("k");
    fleet.advance(Duration.ofMillis(90));
    assertThat(fresh.value()).isEqualTo("v1");
  }

  @Test
  void withNothingAtHand_theSoftTimeoutDoesNothing() {
    Node node = fleet.node("a", FailSafeTest::soft);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(answer.took()).isGreaterThanOrEqualTo(Fleet.LOAD);
  }

  // ---------------------------------------------------------------- hard

  @Test
  void slowLoad_isLeftAfterTheHardTimeout_andGoesOn() {
    Node node = fleet.node("a", FailSafeTest::hard);
    fleet.source.takes = Duration.ofSeconds(2);
    Answer loading = node.get("k");
    fleet.advance(Duration.ofMillis(200));
    Answer joined = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(loading.error)
        .isInstanceOf(FillTimeoutException.class)
        .hasMessageContaining("hardLoadTimeout = PT0.5S");
    assertThat(loading.took()).isBetween(Duration.ofMillis(500), Duration.ofMillis(505));
    assertThat(((FillTimeoutException) requireNonNull(loading.error)).retryAfter()).isPositive();
    assertThat(joined.isDone()).isFalse();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(joined.value()).isEqualTo("v1");
    assertThat(node.lookup("k").value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void hardTimeout_givesTheFallback_orTheOldValue_butNeverASecondLoad() {
    Node a = fleet.node("a", b -> hard(b).otherwise(Otherwise.fallback(k -> "fallback")));
    Node b = fleet.node("b", s -> hard(s).otherwise(Otherwise.loadDegraded()));
    Node c = fleet.node("c", s -> hard(s).failSafeFor(MINUTE));
    fleet.source.takes = Duration.ofSeconds(2);
    Answer fallback = a.get("k1");
    Answer degraded = b.get("k2");
    c.put("k3", "old");
    c.expire("k3");
    Answer old = c.get("k3");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fallback.value()).isEqualTo("fallback");
    assertThat(degraded.error).isInstanceOf(FillTimeoutException.class);
    assertThat(old.value()).isEqualTo("old");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(fleet.source.loads).isEqualTo(3);
  }

  @Test
  @Timeout(60)
  void blockingCaller_leavesItsLoadWhichRunsElsewhere() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicReference<@Nullable Thread> loading = new AtomicReference<>();
    try (InMemoryPaddock memory = InMemoryPaddock.create()) {
      Cache<String, String> cache =
          memory
              .paddock()
              .cache("c", Codecs.string())
              .hardLoadTimeout(Duration.ofMillis(50))
              .otherwise(Otherwise.fallback(k -> "fallback"))
              .build();
      String answer =
          cache.get(
              "k",
              (key, context) -> {
                loading.set(Thread.currentThread());
                return goOn.await(50, TimeUnit.SECONDS) ? "loaded" : null;
              });
      assertThat(answer).isEqualTo("fallback");
      goOn.countDown();
      Awaitility.await().until(() -> "loaded".equals(cache.getIfPresent("k")));
      assertThat(loading.get()).isNotNull().isNotSameAs(Thread.currentThread());
    }
  }
}
