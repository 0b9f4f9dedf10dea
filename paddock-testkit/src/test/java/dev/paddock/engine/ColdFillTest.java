/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.Lookup;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.spi.FillOutcome;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ColdFillTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void coldKey_manyCallersInManyProcesses_areAnsweredByOneLoad() {
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      answers.addAll(fleet.node("n" + i, Fleet::usual).getMany("k", 50));
    }
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(answers).extracting(answer -> answer.completions).containsOnly(1);
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void coldKey_herdOfProcesses_sendsCommandsByProcessNotByCaller() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      nodes.add(fleet.node("n" + i, Fleet::usual));
    }
    fleet.countFromHere();
    nodes.forEach(node -> node.getMany("few", 50));
    fleet.advance(Duration.ofSeconds(1));
    long few = fleet.commands();
    fleet.redis.resetCommandCounts();
    nodes.forEach(node -> node.getMany("many", 500));
    fleet.advance(Duration.ofSeconds(1));
    // Four processes: a GET and a GET_OR_ACQUIRE each, one FILL; for the three that wait SUBSCRIBE,
    // a look once that is in force, and UNSUBSCRIBE. The hint brings the value.
    assertThat(few).isEqualTo(18);
    assertThat(fleet.commands()).isEqualTo(few);
  }

  @Test
  void coldKey_callersThatTrickleIn_sendNothing() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      nodes.add(fleet.node("n" + i, Fleet::usual));
    }
    fleet.countFromHere();
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      nodes.forEach(node -> answers.addAll(node.getMany("k", 5)));
      fleet.advance(Duration.ofMillis(10));
    }
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
    // Three more than at once: a look of each waiting process for those who came after the first.
    assertThat(fleet.commands()).isEqualTo(21);
  }

  @Test
  void coldKey_callersThatComeWhileTheLeaseIsAskedFor_sendNothing() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- GET_OR_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(50), Duration.ofMillis(50))
                : RequestFate.DELIVERED);
    Answer first = a.get("k");
    fleet.advance(Duration.ofMillis(20));
    List<Answer> more = a.getMany("k", 50);
    fleet.advance(Duration.ofMillis(60));
    more.addAll(a.getMany("k", 50));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(more).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.commands()).isEqualTo(3);
  }

  @Test
  void coldKey_thatAnotherProcessPutMeanwhile_isReadByThoseWhoJoinedTheLoad() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    Answer early = a.get("k");
    fleet.advance(Duration.ofMillis(50));
    b.put("k", "newer");
    Answer late = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(early.value()).isEqualTo("v1");
    assertThat(late.value()).isEqualTo("newer");
    assertThat(late.took()).isLessThanOrEqualTo(Fleet.LOAD);
  }

  @Test
  void coldFill_alone_costsThreeCommandsAndAHitOne() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.commands()).isEqualTo(3);
    fleet.redis.resetCommandCounts();
    Answer hit = node.get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(hit.value()).isEqualTo("v1");
    assertThat(fleet.redis.commandCounts()).isEqualTo(Map.of("GET", 1L));
    assertThat(node.events(CacheEvent.Hit.class)).hasSize(1);
  }

  @Test
  void expectedMiss_skipsTheFirstRead() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    node.watch(
        "k", node.cache.getAsync("k", fleet.source.loader(), node.cache.options().expectMiss()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.commands()).isEqualTo(2);
    Answer hit =
        node.watch(
            "k",
            node.cache.getAsync("k", fleet.source.loader(), node.cache.options().expectMiss()));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(hit.value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void absentValue_isCachedAsNegativeEntryAndTold() {
    Node node = fleet.node("a", b -> Fleet.usual(b).negativeTimeToLive(Duration.ofSeconds(2)));
    assertThat(node.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    Answer first = node.watch("k", node.cache.getAsync("k", key -> null));
    fleet.advance(Duration.ofMillis(10));
    assertThat(first.value()).isNull();
    assertThat(node.lookup("k").state()).isEqualTo(Lookup.State.ABSENT);
    Answer second = node.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(second.value()).isNull();
    assertThat(fleet.source.loads).isZero();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(node.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void emptyValue_isAValue() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k", "");
    assertThat(node.lookup("k")).isEqualTo(new Lookup<>(Lookup.State.PRESENT, "", false));
  }

  @Test
  void negativeEntries_switchedOff_areNotStored() {
    Node node = fleet.node("a", b -> Fleet.usual(b).negativeTimeToLive(Duration.ZERO));
    Answer answer = node.watch("k", node.cache.getAsync("k", key -> null));
    fleet.advance(Duration.ofMillis(10));
    assertThat(answer.value()).isNull();
    assertThat(fleet.stored("k")).isNull();
    assertThat(node.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    // Not for a moment either.
    assertThat(node.events(CacheEvent.FillEnded.class)).isEmpty();
  }

  @Test
  void ttl_isShortenedByAtMostTheJitterAndNeverTheSame() {
    Node node = fleet.node("a", b -> b.timeToLive(Duration.ofSeconds(100)).jitter(0.1));
    List<Long> ttls = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      node.put("k" + i, "x");
      ttls.add(Objects.requireNonNull(fleet.stored("k" + i)).ttlMillis());
    }
    assertThat(ttls).allMatch(ttl -> ttl > 90_000 - 2 && ttl <= 100_000);
    assertThat(ttls.stream().distinct().count()).isGreaterThan(40);
    assertThat(ttls).anyMatch(ttl -> ttl < 92_000).anyMatch(ttl -> ttl > 98_000);
  }

  @Test
  void shortestTtl_withJitter_isStillAtLeastOneMillisecond() {
    Node node = fleet.node("a", b -> b.timeToLive(Duration.ofMillis(1)).jitter(0.5));
    node.put("k", "x");
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void loaderContext_setsTtlSkipsAndMarksAbsent() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.source.onLoad = context -> context.timeToLive(Duration.ofSeconds(1));
    node.get("short");
    fleet.advance(Duration.ofMillis(300));
    assertThat(Objects.requireNonNull(fleet.stored("short")).ttlMillis()).isBetween(800L, 1000L);
    fleet.source.onLoad = context -> context.skipCaching();
    Answer skipped = node.get("skipped");
    fleet.advance(Duration.ofMillis(300));
    assertThat(skipped.value()).isEqualTo("v1");
    assertThat(fleet.stored("skipped")).isNull();
    fleet.source.onLoad = context -> context.markAbsent();
    Answer absent = node.get("absent");
    fleet.advance(Duration.ofMillis(300));
    assertThat(absent.value()).isNull();
    assertThat(node.lookup("absent").state()).isEqualTo(Lookup.State.ABSENT);
  }

  @Test
  void callOptions_setTheTtlOfTheirValue() {
    Node node = fleet.node("a", Fleet::usual);
    CallOptions<String, String> options = node.cache.options().timeToLive(Duration.ofSeconds(3));
    node.watch("k", node.cache.getAsync("k", fleet.source.loader(), options));
    fleet.advance(Duration.ofMillis(200));
    assertThat(Objects.requireNonNull(fleet.stored("k")).ttlMillis()).isBetween(2_900L, 3_000L);
  }

  @Test
  void lateLoad_withNobodyElse_isStoredThoughTheLeaseRanOut() {
    Node node = fleet.node("a", b -> Fleet.usual(b).renewal(false));
    fleet.source.takes = Duration.ofSeconds(3);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(node.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.STORED);
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void sameKeyInTwoCaches_areTwoValues() {
    Node node = fleet.node("a", Fleet::usual);
    dev.paddock.Cache<String, String> other =
        node.paddock.cache("d", dev.paddock.Codecs.string()).build();
    node.put("k", "one");
    fleet.env.await(other.putAsync("k", "two"), Duration.ofSeconds(1));
    assertThat(node.lookup("k").value()).isEqualTo("one");
    assertThat(fleet.env.await(other.lookupAsync("k"), Duration.ofSeconds(1)).value())
        .isEqualTo("two");
  }

  @Test
  void cancelledCaller_touchesNoOther() {
    Node node = fleet.node("a", Fleet::usual);
    List<Answer> answers = node.getMany("k", 3);
    fleet.advance(Duration.ofMillis(50));
    answers.get(0).future.cancel(true);
    answers.get(2).future.cancel(true);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers.get(1).value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }
}
