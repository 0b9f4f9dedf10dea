/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.StoreException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A store that is gone, hangs, is full, or is a replica: the breaker, and what is kept meanwhile.
 */
final class OutageTest {
  private static final Duration OUTAGE_TTL = Duration.ofSeconds(5);

  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    healthy();
    fleet.redis.setReadOnly(false);
    fleet.redis.setOutOfMemory(false);
    fleet.assertAtRest();
  }

  private void healthy() {
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  private void hanging() {
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
  }

  private void refusing() {
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
  }

  private static CacheBuilder<String, String> kept(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).outageTimeToLive(OUTAGE_TTL);
  }

  private static CacheBuilder<String, String> notKept(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).outageTimeToLive(Duration.ZERO);
  }

  /** 200 calls in so many waves, each of which is over before the next. */
  private List<Answer> waves(Node node, int waves, Duration apart) {
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < waves; i++) {
      answers.addAll(node.getMany("k", 200 / waves));
      fleet.advance(apart);
    }
    return answers;
  }

  // ---------------------------------------------------------------- values that are kept

  @Test
  void whileTheStoreRefuses_eachProcessLoadsAKeyOnceInTheOutageTtl() {
    Node a = fleet.node("a", OutageTest::kept);
    Node b = fleet.node("b", OutageTest::kept);
    refusing();
    List<Answer> answers = waves(a, 8, Duration.ofMillis(500));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
    waves(b, 2, Duration.ofMillis(500));
    assertThat(fleet.source.loads).isEqualTo(2);
    fleet.source.change();
    fleet.advance(OUTAGE_TTL);
    assertThat(waves(a, 1, Duration.ofSeconds(1))).extracting(Answer::value).containsOnly("v2");
    assertThat(fleet.source.loads).isEqualTo(3);
    assertThat(a.events(CacheEvent.OutageServed.class)).hasSize(175);
  }

  @Test
  void notKept_eachWaveLoads() {
    Node a = fleet.node("a", OutageTest::notKept);
    refusing();
    waves(a, 8, Duration.ofMillis(500));
    assertThat(fleet.source.loads).isEqualTo(8);
    assertThat(a.events(CacheEvent.OutageServed.class)).isEmpty();
  }

  @Test
  void readOnlyStore_isAnOutageForMisses() {
    Node a = fleet.node("a", OutageTest::kept);
    fleet.redis.setReadOnly(true);
    assertThat(waves(a, 8, Duration.ofMillis(500))).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void fullStore_isAnOutageForMisses() {
    Node a = fleet.node("a", OutageTest::kept);
    fleet.redis.setOutOfMemory(true);
    assertThat(waves(a, 8, Duration.ofMillis(500))).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
    fleet.redis.setOutOfMemory(false);
    fleet.source.change();
    Answer healed = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(healed.value()).isEqualTo("v2");
  }

  @Test
  void ownInvalidation_forgetsWhatIsKept_thoughTheStoreCantBeTold() {
    Node a = fleet.node("a", OutageTest::kept);
    refusing();
    waves(a, 1, Duration.ofSeconds(1));
    fleet.source.change();
    var failed = a.watch("k", a.cache.invalidateAsync("k").thenApply(nothing -> null));
    fleet.advance(Duration.ofMillis(10));
    assertThat(failed.error).hasCauseInstanceOf(StoreException.class);
    assertThat(waves(a, 1, Duration.ofSeconds(1))).extracting(Answer::value).containsOnly("v2");
  }

  @Test
  void callsThatAreAlwaysFresh_loadAnew() {
    Node a = fleet.node("a", OutageTest::kept);
    refusing();
    waves(a, 1, Duration.ofSeconds(1));
    fleet.source.change();
    Answer fresh =
        a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().alwaysFresh()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fresh.value()).isEqualTo("v2");
  }

  @Test
  void whatTheLoaderSkips_isNotKept() {
    Node a = fleet.node("a", OutageTest::kept);
    refusing();
    fleet.source.onLoad = context -> context.skipCaching();
    waves(a, 4, Duration.ofSeconds(1));
    assertThat(fleet.source.loads).isEqualTo(4);
  }

  @Test
  void valueIsKeptNoLongerThanItIsFresh() {
    Node a =
        fleet.node(
            "a", b -> b.timeToLive(Duration.ofSeconds(1)).jitter(0).outageTimeToLive(OUTAGE_TTL));
    refusing();
    waves(a, 4, Duration.ofMillis(1_300));
    assertThat(fleet.source.loads).isEqualTo(4);
  }

  @Test
  void storeThatComesBack_isUsedAtOnce() {
    Node a = fleet.node("a", OutageTest::kept);
    refusing();
    waves(a, 1, Duration.ofSeconds(1));
    healthy();
    fleet.source.change();
    Answer next = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(next.value()).isEqualTo("v2");
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void refreshThatTheStoreFailed_doesNotKeepALaterCallerFromTheStore() {
    Node a = fleet.node("a", b -> notKept(b).serveStaleFor(Duration.ofMinutes(1)));
    a.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.redis.setReadOnly(true);
    Answer stale = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.redis.setReadOnly(false);
    Answer fresh =
        a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().alwaysFresh()));
    fleet.advance(Duration.ofMillis(300));
    assertThat(stale.value()).isEqualTo("old");
    assertThat(fresh.value()).isEqualTo("v1");
    assertThat(a.lookup("k").value()).isEqualTo("v1");
  }

  // ---------------------------------------------------------------- breaker

  @Test
  void storeThatHangs_costsTimeOutsOnlyUntilTheBreakerOpens() {
    Node a = fleet.node("a", OutageTest::notKept);
    hanging();
    List<Answer> first = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      first.add(a.get("k" + i));
    }
    fleet.advance(Duration.ofSeconds(2));
    assertThat(a.events(CacheEvent.BreakerChanged.class))
        .singleElement()
        .matches(CacheEvent.BreakerChanged::open);
    List<Answer> later = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      later.add(a.get("l" + i));
      fleet.advance(Duration.ofMillis(100));
    }
    fleet.advance(Duration.ofSeconds(1));
    Duration timeoutAndLoad = Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD).plusMillis(10);
    assertThat(first).allMatch(answer -> answer.took().compareTo(timeoutAndLoad) < 0);
    assertThat(later).allMatch(answer -> answer.took().compareTo(Fleet.LOAD.plusMillis(10)) < 0);
  }

  @Test
  void storeThatAnswersAgain_isNoticedWithoutACaller_andWithinTwoSeconds() {
    Node a = fleet.node("a", OutageTest::notKept);
    hanging();
    for (int i = 0; i < 3; i++) {
      a.get("k" + i);
    }
    fleet.advance(Duration.ofMinutes(1));
    assertThat(a.events(CacheEvent.BreakerChanged.class)).hasSize(1);
    healthy();
    fleet.advance(Duration.ofSeconds(2));
    assertThat(a.events(CacheEvent.BreakerChanged.class))
        .extracting(CacheEvent.BreakerChanged::open)
        .containsExactly(true, false);
    Answer next = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(next.value()).isEqualTo("v1");
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void someTimeOuts_betweenAnswers_openNothing() {
    Node a = fleet.node("a", OutageTest::notKept);
    for (int round = 0; round < 4; round++) {
      hanging();
      a.get("x" + round);
      a.get("y" + round);
      fleet.advance(Duration.ofSeconds(2));
      healthy();
      a.get("z" + round);
      fleet.advance(Duration.ofSeconds(1));
    }
    assertThat(a.events(CacheEvent.StoreFailed.class)).hasSizeGreaterThanOrEqualTo(8);
    assertThat(a.events(CacheEvent.BreakerChanged.class)).isEmpty();
  }

  @Test
  void storeThatRefuses_doesNotOpenIt_forNobodyWaits() {
    Node a = fleet.node("a", OutageTest::notKept);
    refusing();
    waves(a, 20, Duration.ofMillis(300));
    assertThat(a.events(CacheEvent.BreakerChanged.class)).isEmpty();
  }

  @Test
  void invalidation_isSentThoughTheBreakerIsOpen() {
    Node a = fleet.node("a", OutageTest::notKept);
    a.put("k", "old");
    hanging();
    for (int i = 0; i < 3; i++) {
      a.get("k" + i);
    }
    fleet.advance(Duration.ofSeconds(2));
    assertThat(a.events(CacheEvent.BreakerChanged.class)).hasSize(1);
    healthy();
    a.invalidate("k");
    assertThat(fleet.stored("k")).isNull();
    assertThat(a.events(CacheEvent.BreakerChanged.class))
        .extracting(CacheEvent.BreakerChanged::open)
        .containsExactly(true, false);
  }

  @Test
  void processes_tryAgainAtDifferentMoments() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      nodes.add(fleet.node("n" + i, OutageTest::notKept));
    }
    hanging();
    for (Node node : nodes) {
      for (int i = 0; i < 3; i++) {
        node.get("k" + i);
      }
    }
    fleet.advance(Duration.ofSeconds(30));
    healthy();
    int most = 0;
    int back = 0;
    while (back < nodes.size()) {
      fleet.advance(Duration.ofMillis(50));
      int now =
          (int)
              nodes.stream()
                  .filter(node -> node.events(CacheEvent.BreakerChanged.class).size() == 2)
                  .count();
      most = Math.max(most, now - back);
      back = now;
    }
    assertThat(most).isLessThan(10);
  }
}
