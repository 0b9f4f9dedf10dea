/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.paddock.Cache;
import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Otherwise;
import dev.paddock.Paddock;
import dev.paddock.TooManyLoadsException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many different keys at once, and a source that bears only so many loads. */
final class BulkheadTest {
  private static final Duration LONG_ENOUGH = Duration.ofSeconds(1);

  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.assertAtRest();
  }

  private static CacheBuilder<String, String> four(CacheBuilder<String, String> builder) {
    return Fleet.usual(builder).maxConcurrentLoads(4);
  }

  private List<Answer> getKeys(Node node, String prefix, int keys) {
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      answers.add(node.get(prefix + i));
    }
    return answers;
  }

  @Test
  void loadsOfOneCache_runNoMoreThanSoManyAtOnce_andAllAreLoaded() {
    Node node = fleet.node("a", BulkheadTest::four);
    List<Answer> answers = getKeys(node, "k", 40);
    fleet.advance(Duration.ofSeconds(3));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.mostAtOnce).isEqualTo(4);
    assertThat(fleet.source.loads).isEqualTo(40);
    // Ten rounds of four.
    assertThat(answers.get(39).took())
        .isBetween(Fleet.LOAD.multipliedBy(10), Fleet.LOAD.multipliedBy(10).plusMillis(50));
    assertThat(node.events(CacheEvent.LoadRefused.class)).isEmpty();
  }

  @Test
  void withoutALimit_allRunAtOnce() {
    Node node = fleet.node("a", Fleet::usual);
    getKeys(node, "k", 40);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.source.mostAtOnce).isEqualTo(40);
  }

  @Test
  void loadThatStandsInLine_keepsItsLease_soNobodyElseLoadsThatKey() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1));
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofSeconds(2);
    Answer first = a.get("k0");
    Answer queued = a.get("k1");
    fleet.advance(Duration.ofSeconds(1));
    Answer remote = b.get("k1");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(queued.value()).isEqualTo("v1");
    assertThat(remote.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
    assertThat(a.events(CacheEvent.LeaseLost.class)).isEmpty();
  }

  @Test
  void callerThatHasWaitedLongEnough_leavesTheLine_andItsLeaseIsGivenBack() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1).maxWait(LONG_ENOUGH));
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofSeconds(3);
    a.get("k0");
    Answer queued = a.get("k1");
    fleet.advance(Duration.ofMillis(1_100));
    assertThat(queued.error)
        .isInstanceOf(FillTimeoutException.class)
        .hasMessageContaining("maxConcurrentLoads");
    fleet.source.takes = Fleet.LOAD;
    Answer remote = b.get("k1");
    fleet.advance(Duration.ofMillis(250));
    assertThat(remote.value()).isEqualTo("v1");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void fullLine_refusesTheLoad_withWhatOtherwiseSays() {
    UnaryOperator<CacheBuilder<String, String>> small =
        b -> Fleet.usual(b).maxConcurrentLoads(1).maxQueuedLoads(1);
    Node a = fleet.node("a", small);
    Node b = fleet.node("b", s -> small.apply(s).otherwise(Otherwise.fallback(key -> "fallback")));
    List<Answer> failing = getKeys(a, "a", 3);
    List<Answer> falling = getKeys(b, "b", 3);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(failing.get(0).value()).isEqualTo("v1");
    assertThat(failing.get(1).value()).isEqualTo("v1");
    assertThat(failing.get(2).error)
        .isInstanceOf(TooManyLoadsException.class)
        .hasMessageContaining("c:a2")
        .hasMessageContaining("maxConcurrentLoads");
    assertThat(falling.get(2).value()).isEqualTo("fallback");
    assertThat(a.events(CacheEvent.LoadRefused.class))
        .singleElement()
        .matches(told -> told.key().equals("c:a2"));
    Answer again = a.get("a2");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(again.value()).isEqualTo("v1");
  }

  @Test
  void fullLine_servesAStaleValueThatWasKeptForThis() {
    Node node =
        fleet.node(
            "a",
            b ->
                Fleet.usual(b)
                    .maxConcurrentLoads(1)
                    .maxQueuedLoads(0)
                    .failSafeFor(Duration.ofMinutes(1)));
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    node.get("other");
    fleet.env.run();
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(10));
    assertThat(answer.value()).isEqualTo("old");
  }

  @Test
  void refreshThatIsRefused_isNotAskedForAtEachStaleHit() {
    Node node =
        fleet.node(
            "a",
            b ->
                Fleet.usual(b)
                    .maxConcurrentLoads(1)
                    .maxQueuedLoads(0)
                    .serveStaleFor(Duration.ofMinutes(1)));
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.takes = Duration.ofMillis(900);
    node.get("other");
    fleet.env.run();
    fleet.redis.resetCommandCounts();
    for (int i = 0; i < 100; i++) {
      node.get("k");
      fleet.advance(Duration.ofMillis(5));
    }
    assertThat(fleet.redis.commandCounts().get("GET")).isEqualTo(100L);
    // Acquired and given back once, and the renewal of the load that runs.
    assertThat(fleet.redis.commandCounts().get("EVALSHA")).isLessThanOrEqualTo(4L);
    fleet.advance(Duration.ofSeconds(2));
    node.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(node.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void loadsOfAllCaches_shareTheLimitOfTheProcess() {
    fleet.paddockSettings = builder -> builder.maxConcurrentLoads(3);
    Node node = fleet.node("a", Fleet::usual);
    Cache<String, String> other = node.paddock.cache("other", Codecs.string()).build();
    List<Answer> answers = getKeys(node, "k", 6);
    for (int i = 0; i < 6; i++) {
      answers.add(node.watch("o" + i, other.getAsync("o" + i, fleet.source.loader())));
    }
    fleet.advance(Duration.ofSeconds(2));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.mostAtOnce).isEqualTo(3);
  }

  @Test
  void cacheThatIsFull_doesNotHoldUpTheOthers() {
    fleet.paddockSettings = builder -> builder.maxConcurrentLoads(3);
    Node node = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1));
    Cache<String, String> other = node.paddock.cache("other", Codecs.string()).build();
    getKeys(node, "k", 5);
    Answer answer = node.watch("o", other.getAsync("o", fleet.source.loader()));
    fleet.advance(Duration.ofMillis(250));
    assertThat(answer.value()).isEqualTo("v1");
    fleet.advance(Duration.ofSeconds(2));
  }

  @Test
  void whileTheStoreIsGone_theLimitHolds() {
    Node node = fleet.node("a", BulkheadTest::four);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    List<Answer> answers = getKeys(node, "k", 20);
    fleet.advance(Duration.ofSeconds(3));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.mostAtOnce).isEqualTo(4);
  }

  @Test
  void loadsThatFail_orAreGivenUp_giveTheirPlacesBack() {
    Node node =
        fleet.node(
            "a", b -> Fleet.usual(b).maxConcurrentLoads(1).maxLoadTime(Duration.ofSeconds(1)));
    fleet.source.failure = new IllegalStateException("source is down");
    Answer failed = node.get("k0");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(failed.error).isInstanceOf(LoadFailedException.class);
    fleet.source.failure = null;
    fleet.source.takes = Duration.ofSeconds(30);
    node.get("k1");
    fleet.advance(Duration.ofSeconds(2));
    fleet.source.takes = Fleet.LOAD;
    Answer next = node.get("k2");
    fleet.advance(Duration.ofMillis(300));
    assertThat(next.value()).isEqualTo("v1");
    fleet.advance(Duration.ofSeconds(30));
  }

  @Test
  void cancelledCaller_leavesTheLine() {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1));
    node.get("k0");
    fleet.env.run();
    Answer cancelled = node.get("k1");
    Answer behind = node.get("k2");
    fleet.env.run();
    cancelled.future.cancel(true);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(behind.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void cancelledCaller_givesPlaceAndLeaseBackWhileTheOthersStillLoad() {
    Node a = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1).maxQueuedLoads(1));
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofSeconds(5);
    a.get("k0");
    Answer cancelled = a.get("k1");
    fleet.env.run();
    cancelled.future.cancel(true);
    fleet.advance(Duration.ofMillis(200));
    fleet.source.takes = Fleet.LOAD;
    Answer remote = b.get("k1");
    Answer inLine = a.get("k2");
    fleet.advance(Duration.ofMillis(300));
    assertThat(remote.value()).isEqualTo("v1");
    assertThat(inLine.isDone()).as("has a place in line").isFalse();
    fleet.advance(Duration.ofSeconds(5));
    assertThat(a.events(CacheEvent.LoadRefused.class)).isEmpty();
  }

  @Test
  void closing_endsTheLine() {
    Node node = fleet.node("a", b -> Fleet.usual(b).maxConcurrentLoads(1));
    List<Answer> answers = getKeys(node, "k", 3);
    fleet.env.run();
    node.close();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).allMatch(Answer::isDone);
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void limits_outOfRange_areRefused() {
    Paddock.Builder builder = Paddock.newBuilder();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.maxConcurrentLoads(0))
        .withMessageContaining("maxConcurrentLoads")
        .withMessageContaining("0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.maxQueuedLoads(-1))
        .withMessageContaining("maxQueuedLoads")
        .withMessageContaining("-1");
  }
}
