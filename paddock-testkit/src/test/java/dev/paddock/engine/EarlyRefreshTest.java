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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Values that are refreshed before they expire. */
final class EarlyRefreshTest {
  private final Fleet fleet = new Fleet();
  private final List<Long> loadStarts = new ArrayList<>();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private static CacheBuilder<String, String> eager(CacheBuilder<String, String> builder) {
    return builder.timeToLive(Duration.ofSeconds(30)).jitter(0).earlyRefresh(1);
  }

  private void noteLoadStarts() {
    fleet.source.onLoad = context -> loadStarts.add(fleet.env.elapsedNanos() / 1_000_000);
  }

  /**
   * A request each 10 ms, by turns of the processes; all are answered with a fresh value at once.
   */
  private void ask(List<Node> nodes, Duration duration) {
    for (int i = 0; i < duration.toMillis() / 10; i++) {
      Answer answer = nodes.get(i % nodes.size()).get("k");
      fleet.env.advance(Duration.ofMillis(10));
      assertThat(answer.took()).isLessThan(Duration.ofMillis(10));
    }
  }

  private Node loaded(Node node) {
    node.get("k");
    fleet.advance(fleet.source.takes.plusMillis(10));
    return node;
  }

  @Test
  void popularKey_isRefreshedByOneLoadForEachExpiry_andNeverMissed() {
    fleet.source.takes = Duration.ofSeconds(1);
    Node a = fleet.node("a", EarlyRefreshTest::eager);
    Node b = fleet.node("b", EarlyRefreshTest::eager);
    loaded(a);
    a.events.clear();
    noteLoadStarts();
    ask(List.of(a, b), Duration.ofMinutes(10));
    assertThat(a.events(CacheEvent.Miss.class)).isEmpty();
    assertThat(b.events(CacheEvent.Miss.class)).isEmpty();
    assertThat(fleet.source.mostAtOnce).isEqualTo(1);
    // 30 s of TTL, of which about 5 are left at each refresh, and 1 s for the load.
    assertThat(loadStarts).hasSizeBetween(21, 27);
    for (int i = 1; i < loadStarts.size(); i++) {
      assertThat(loadStarts.get(i) - loadStarts.get(i - 1)).isGreaterThan(15_000);
    }
    fleet.advance(Duration.ofSeconds(2));
    assertThat(
            a.events(CacheEvent.FillEnded.class).size()
                + b.events(CacheEvent.FillEnded.class).size())
        .isEqualTo(loadStarts.size());
  }

  @Test
  void withoutIt_noValueIsRefreshedBeforeItExpires() {
    Node node = fleet.node("a", EarlyRefreshTest::never);
    loaded(node);
    noteLoadStarts();
    for (int i = 0; i < 2_900; i++) {
      node.get("k");
      fleet.env.advance(Duration.ofMillis(10));
    }
    assertThat(loadStarts).isEmpty();
    fleet.advance(Duration.ofSeconds(2));
    node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(loadStarts).hasSize(1);
  }

  private static CacheBuilder<String, String> never(CacheBuilder<String, String> builder) {
    return builder.timeToLive(Duration.ofSeconds(30)).jitter(0).earlyRefresh(0);
  }

  @Test
  void partOfTheTtl_isWhenTheNextHitRefreshes() {
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.8)); // TTL 10 s
    loaded(node);
    fleet.source.change();
    fleet.advance(Duration.ofMillis(7_900));
    node.get("k");
    fleet.advance(Duration.ofMillis(120));
    assertThat(fleet.source.loads).isEqualTo(1);
    Answer hit = node.get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(hit.value()).isEqualTo("v1");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.source.loads).isEqualTo(2);
    Answer refreshed = node.get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(refreshed.value()).isEqualTo("v2");
    assertThat(node.events(CacheEvent.Miss.class)).hasSize(1);
  }

  @Test
  void otherProcesses_askForTheLeaseOnceWhileItIsRefreshed() {
    Node a = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.5));
    Node b = fleet.node("b", s -> Fleet.usual(s).earlyRefreshAt(0.5));
    loaded(a);
    fleet.source.takes = Duration.ofMillis(300);
    fleet.advance(Duration.ofSeconds(6));
    a.get("k");
    fleet.advance(Duration.ofMillis(5));
    fleet.redis.resetCommandCounts();
    for (int i = 0; i < 50; i++) {
      b.get("k");
      fleet.advance(Duration.ofMillis(5));
    }
    assertThat(fleet.redis.commandCounts().get("EVALSHA")).isEqualTo(1L);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void refreshThatFails_leavesTheFreshValue_andIsNotRepeatedInTheCoolDown() {
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.5));
    loaded(node);
    fleet.advance(Duration.ofSeconds(6));
    fleet.source.failure = new IllegalStateException("source is down");
    for (int i = 0; i < 100; i++) {
      Answer answer = node.get("k");
      fleet.advance(Duration.ofMillis(10));
      assertThat(answer.value()).isEqualTo("v1");
    }
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void refreshWhoseValueMustNotBeStored_doesNotFollowEachHit() {
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.5));
    loaded(node);
    fleet.advance(Duration.ofSeconds(6));
    fleet.source.takes = Duration.ofMillis(1);
    fleet.source.onLoad = context -> context.skipCaching();
    for (int i = 0; i < 100; i++) {
      node.get("k");
      fleet.advance(Duration.ofMillis(20));
    }
    // In 2 s, with a second between them.
    assertThat(fleet.source.loads).isBetween(2, 4);
    fleet.source.onLoad = null;
    fleet.advance(Duration.ofSeconds(3));
  }

  @Test
  void invalidationDuringAnEarlyRefresh_keepsItsValueOut() {
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefreshAt(0.5));
    loaded(node);
    fleet.advance(Duration.ofSeconds(6));
    node.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    node.invalidate("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.stored("k")).isNull();
    Answer next = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(next.value()).isEqualTo("v2");
  }

  @Test
  void refreshesThatComeMuchTooEarly_areTold() {
    fleet.source.takes = Duration.ofSeconds(1);
    Node node = fleet.node("a", b -> Fleet.usual(b).earlyRefresh(10));
    loaded(node);
    for (int i = 0; i < 20_000 && node.events(CacheEvent.RefreshTooEarly.class).isEmpty(); i++) {
      node.get("k");
      fleet.env.advance(Duration.ofMillis(10));
    }
    assertThat(node.events(CacheEvent.RefreshTooEarly.class))
        .singleElement()
        .satisfies(
            told -> {
              assertThat(told.gap()).isGreaterThan(Duration.ofSeconds(5));
              // Whole milliseconds of the load time are part of it.
              assertThat(told.timeToLive())
                  .isBetween(Duration.ofMillis(9_998), Duration.ofSeconds(10));
            });
    assertThat(fleet.source.loads).isGreaterThanOrEqualTo(16);
  }
}
