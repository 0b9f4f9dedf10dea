/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class StaleTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private static CacheBuilder<String, String> stale(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).serveStaleFor(Duration.ofMinutes(1));
  }

  @Test
  void staleValue_isServedAtOnceWhileOneLoadInTheFleetRefreshes() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      nodes.add(fleet.node("n" + i, StaleTest::stale));
    }
    nodes.get(0).put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    List<Answer> answers = new ArrayList<>();
    nodes.forEach(node -> answers.addAll(node.getMany("k", 50)));
    fleet.advance(Duration.ofMillis(1));
    assertThat(answers).extracting(Answer::value).containsOnly("old");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.source.loads).isEqualTo(1);
    Answer next = nodes.get(3).get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(next.value()).isEqualTo("v1");
  }

  @Test
  void refreshOfAStaleValue_costsThreeCommands() {
    Node node = fleet.node("a", StaleTest::stale);
    fleet.countFromHere();
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.redis.resetCommandCounts();
    node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.commands()).isEqualTo(3);
  }

  @Test
  void staleHits_whileAnotherProcessRefreshes_doNotAskForTheLeaseEachTime() {
    Node a = fleet.node("a", StaleTest::stale);
    Node b = fleet.node("b", StaleTest::stale);
    a.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.takes = Duration.ofMillis(900);
    a.get("k");
    fleet.advance(Duration.ofMillis(10));
    fleet.redis.resetCommandCounts();
    for (int i = 0; i < 100; i++) {
      b.get("k");
      fleet.advance(Duration.ofMillis(5));
    }
    assertThat(fleet.redis.commandCounts().get("GET")).isEqualTo(100L);
    // One question for the lease, and the renewals of its holder.
    assertThat(fleet.redis.commandCounts().get("EVALSHA")).isLessThanOrEqualTo(3L);
    fleet.advance(Duration.ofSeconds(2));
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void callerThatWantsFreshValues_waitsForTheRefreshOfAnother() {
    Node a = fleet.node("a", StaleTest::stale);
    Node b = fleet.node("b", StaleTest::stale);
    a.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    a.get("k");
    fleet.env.run();
    Answer quiet = b.get("k");
    fleet.env.run();
    Answer fresh =
        b.watch("k", b.cache.getAsync("k", fleet.source.loader(), b.cache.options().alwaysFresh()));
    fleet.advance(Duration.ofSeconds(2));
    assertThat(quiet.value()).isEqualTo("old");
    assertThat(fresh.value()).isEqualTo("v1");
    assertThat(fresh.took()).isBetween(Fleet.LOAD, Fleet.LOAD.plusMillis(5));
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void alwaysFreshCache_neverServesStaleUnlessTheCallSaysSo() {
    Node node = fleet.node("a", b -> stale(b).alwaysFresh());
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    Answer lenient =
        node.watch(
            "k",
            node.cache.getAsync("k", fleet.source.loader(), node.cache.options().allowStale()));
    fleet.env.run();
    assertThat(lenient.value()).isEqualTo("old");
    fleet.advance(Duration.ofSeconds(1));
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.change();
    Answer strict = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(strict.value()).isEqualTo("v2");
  }

  @Test
  void expectedMiss_onAStaleValue_servesItAndRefreshesBehind() {
    Node node = fleet.node("a", StaleTest::stale);
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    Answer answer =
        node.watch(
            "k",
            node.cache.getAsync("k", fleet.source.loader(), node.cache.options().expectMiss()));
    fleet.advance(Duration.ofMillis(1));
    assertThat(answer.value()).isEqualTo("old");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void expiredByHand_isStaleFromThenOn() {
    Node node = fleet.node("a", StaleTest::stale);
    node.put("k", "old");
    node.expire("k");
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(answer.value()).isEqualTo("old");
    assertThat(node.events(CacheEvent.StaleServed.class)).hasSize(1);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void expiredByHand_withoutAStaleWindow_isLoadedAnew() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k", "old");
    node.expire("k");
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
  }

  @Test
  void loader_seesTheStaleValue() {
    Node node = fleet.node("a", b -> stale(b).alwaysFresh());
    AtomicReference<String> seen = new AtomicReference<>("none");
    fleet.source.onLoad = context -> seen.set(String.valueOf(context.staleValue()));
    node.put("k", "old");
    node.expire("k");
    node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(seen.get()).isEqualTo("old");
  }

  @Test
  void failedRefresh_leavesTheStaleValueInPlace() {
    Node node = fleet.node("a", StaleTest::stale);
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.failure = new IllegalStateException("source is down");
    for (int i = 0; i < 30; i++) {
      Answer answer = node.get("k");
      fleet.advance(Duration.ofMillis(500));
      assertThat(answer.value()).isEqualTo("old");
    }
    // 15 s of calls, each load 0.2 s and a cool-down of 1 s after it.
    assertThat(fleet.source.loads).isBetween(8, 13);
    fleet.source.failure = null;
    fleet.advance(Duration.ofSeconds(2));
    node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void refresh_loadsThoughTheValueIsFresh() {
    Node node = fleet.node("a", StaleTest::stale);
    node.put("k", "old");
    Answer refreshed = node.watch("k", node.cache.refresh("k", fleet.source.loader()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(refreshed.value()).isEqualTo("v1");
    assertThat(node.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void refresh_duringARefreshOfAnotherProcess_loadsNothing() {
    Node a = fleet.node("a", StaleTest::stale);
    Node b = fleet.node("b", StaleTest::stale);
    a.put("k", "old");
    Answer first = a.watch("k", a.cache.refresh("k", fleet.source.loader()));
    fleet.env.run();
    Answer second = b.watch("k", b.cache.refresh("k", fleet.source.loader()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(second.value()).isEqualTo("old");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void negativeEntry_isNeverServedStale() {
    Node node = fleet.node("a", b -> stale(b).negativeTimeToLive(Duration.ofSeconds(2)));
    node.put("k", null);
    fleet.advance(Duration.ofMillis(2_001));
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    node.put("expired", null);
    node.expire("expired");
    Answer afterExpire = node.get("expired");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(afterExpire.value()).isEqualTo("v1");
  }
}
