/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheEvent;
import dev.paddock.Lookup;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.spi.FillOutcome;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class InvalidationTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void invalidatedValue_isGoneWhenTheCallReturns() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.put("k", "old");
    b.invalidate("k");
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    assertThat(fleet.stored("k")).isNull();
  }

  @Test
  void loadInFlight_isNotStoredAfterAnInvalidation() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    Answer before = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    b.invalidate("k");
    fleet.advance(Duration.ofMillis(200));
    assertThat(before.value()).isEqualTo("v1");
    assertThat(fleet.stored("k")).isNull();
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.INVALIDATED);
  }

  @Test
  void callerAfterARemoteInvalidation_neverSharesTheLoadBegunBefore() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    Answer before = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    b.invalidate("k");
    Answer after = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(before.value()).isEqualTo("v1");
    assertThat(after.value()).isEqualTo("v2");
    // At worst the load in flight and the next.
    assertThat(after.took()).isLessThan(Fleet.LOAD.multipliedBy(2));
    assertThat(a.lookup("k").value()).isEqualTo("v2");
  }

  @Test
  void callerAfterALocalInvalidation_startsAfreshAtOnce() {
    Node a = fleet.node("a", Fleet::usual);
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    a.invalidate("k");
    Answer after = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(after.value()).isEqualTo("v2");
    assertThat(after.took()).isLessThan(Fleet.LOAD.plusMillis(5));
  }

  @Test
  void getThatWasUnderWay_isNotJoinedByACallerAfterAnInvalidation() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.put("k", "old");
    // The reply of a's first GET travels for a second: it was read before the invalidation.
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("GET") && request.client().equals("a")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(900))
                : RequestFate.DELIVERED);
    Answer slow = a.get("k");
    fleet.env.run();
    b.invalidate("k");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    Answer after = a.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(slow.value()).isEqualTo("old");
    assertThat(after.value()).isEqualTo("v1");
  }

  @Test
  void fillThatWasUnderWay_provesNothingToACallerAfterAnInvalidation() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    // So that the server knows the scripts, and a FILL is one request.
    fleet.countFromHere();
    Answer early = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    Answer late = a.get("k");
    // The reply of a's FILL travels for a while: it was executed before the invalidation.
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("a") && !request.name().equals("GET")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(300))
                : RequestFate.DELIVERED);
    fleet.advance(Duration.ofMillis(150));
    assertThat(fleet.stored("k")).isNotNull();
    fleet.source.change();
    b.invalidate("k");
    Answer after = a.get("k");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.advance(Duration.ofSeconds(2));
    assertThat(early.value()).isEqualTo("v1");
    assertThat(late.value()).isEqualTo("v1");
    assertThat(after.value()).isEqualTo("v2");
  }

  @Test
  void hitThatWasUnderWay_isNotSharedByACallerAfterAnInvalidation() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.countFromHere();
    b.put("k", "old");
    // The reply of a's acquire travels for long: it was made before the invalidation.
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("a") && request.runs("-- GET_OR_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(900))
                : RequestFate.DELIVERED);
    Answer slow =
        a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().expectMiss()));
    fleet.env.run();
    b.invalidate("k");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    Answer after = a.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(slow.value()).isEqualTo("old");
    assertThat(after.value()).isEqualTo("v1");
  }

  @Test
  void hitThatWasUnderWay_isNotSharedByACallerThatJoinedWithoutARead() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.countFromHere();
    // a finds nothing. When it asks for the lease there is a value, and the answer travels for
    // long.
    fleet.redis.setInterceptor(
        request -> {
          if (!request.client().equals("a")) {
            return RequestFate.DELIVERED;
          }
          return request.runs("-- GET_OR_ACQUIRE:")
              ? RequestFate.DELIVERED.delayed(Duration.ofMillis(100), Duration.ofMillis(800))
              : RequestFate.DELIVERED;
        });
    Answer slow = a.get("k");
    fleet.advance(Duration.ofMillis(50));
    b.put("k", "old");
    fleet.advance(Duration.ofMillis(100));
    b.invalidate("k");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    Answer after = a.get("k");
    assertThat(fleet.redis.commandCounts().get("GET")).isEqualTo(1L);
    fleet.advance(Duration.ofSeconds(2));
    assertThat(slow.value()).isEqualTo("old");
    assertThat(after.value()).isEqualTo("v1");
  }

  @Test
  void lookupAfterAPut_isNotAnsweredByAReadSentBeforeIt() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("GET")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(500))
                : RequestFate.DELIVERED);
    var before = a.cache.lookupAsync("k");
    fleet.env.run();
    a.put("k", "x");
    var after = a.cache.lookupAsync("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(before.join().isMissing()).isTrue();
    assertThat(after.join().value()).isEqualTo("x");
  }

  @Test
  void put_duringALoad_isNotOverwrittenByIt() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    b.put("k", "newer");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(a.lookup("k").value()).isEqualTo("newer");
  }

  @Test
  void expire_duringALoad_keepsItFromBeingStored() {
    Node a = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    a.put("k", "old");
    a.expire("k");
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    a.expire("k");
    fleet.advance(Duration.ofMillis(150));
    assertThat(a.lookup("k").value()).isEqualTo("old");
    a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(a.lookup("k").value()).isEqualTo("v2");
  }

  @Test
  void invalidationsFasterThanLoads_everyAnswerIsNoOlderThanTheLastOneBeforeItsCall() {
    List<Node> nodes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      nodes.add(fleet.node("n" + i, Fleet::usual));
    }
    record Asked(Answer answer, int atLeast) {}
    List<Asked> asked = new ArrayList<>();
    int version = 1;
    for (int round = 0; round < 200; round++) {
      if (round % 3 == 0) {
        fleet.source.change();
        nodes.get(round % 2).invalidate("k");
        version++;
      }
      for (Node node : nodes) {
        asked.add(new Asked(node.get("k"), version));
      }
      fleet.advance(Duration.ofMillis(20));
    }
    fleet.advance(Duration.ofSeconds(2));
    for (Asked one : asked) {
      String value = Objects.requireNonNull(one.answer.value());
      assertThat(Integer.parseInt(value.substring(1))).isGreaterThanOrEqualTo(one.atLeast);
      // A few loads: its own process may have to wait for the turn of another.
      assertThat(one.answer.took()).isLessThan(Fleet.LOAD.multipliedBy(5));
    }
  }

  @Test
  void invalidationsFasterThanLoads_noProcessLosesForEver() {
    Node invalidator = fleet.node("invalidator", Fleet::usual);
    Node unlucky = fleet.node("unlucky", Fleet::usual);
    Answer waiting = null;
    // Somebody else is always quicker to the lease than the unlucky process.
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("unlucky")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(10), Duration.ZERO)
                : RequestFate.DELIVERED);
    for (int round = 0; round < 200; round++) {
      invalidator.invalidate("k");
      invalidator.get("k");
      fleet.env.run();
      if (round == 1) {
        waiting = unlucky.get("k");
      }
      fleet.advance(Duration.ofMillis(50));
    }
    fleet.advance(Duration.ofSeconds(1));
    Answer answer = Objects.requireNonNull(waiting);
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(answer.took()).isLessThan(Duration.ofSeconds(4));
    assertThat(unlucky.events(CacheEvent.LeaseGranted.class)).isEmpty();
    assertThat(unlucky.events(CacheEvent.NotStored.class)).hasSize(1);
  }

  @Test
  void holdOff_loadsWithoutStoringUntilItIsOver() {
    Node a = fleet.node("a", b -> Fleet.usual(b).holdOff(Duration.ofSeconds(2)));
    a.put("k", "old");
    a.invalidate("k");
    Answer first = a.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(fleet.stored("k")).isNull();
    assertThat(a.events(CacheEvent.NotStored.class)).hasSize(1);
    fleet.advance(Duration.ofSeconds(2));
    a.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void holdOff_stillSharesOneLoadInAProcess() {
    Node a = fleet.node("a", b -> Fleet.usual(b).holdOff(Duration.ofSeconds(5)));
    a.invalidate("k");
    List<Answer> answers = a.getMany("k", 20);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isLessThanOrEqualTo(2);
    assertThat(fleet.source.mostAtOnce).isEqualTo(1);
  }

  @Test
  void failedPut_leavesNothingOlderBehind() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("k", "old");
    fleet.redis.setOutOfMemory(true);
    var put = a.cache.putAsync("k", "new");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(put).isCompletedExceptionally();
    fleet.redis.setOutOfMemory(false);
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void putWithALostReply_isReportedAndInvalidated() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("k", "old");
    fleet.redis.setInterceptor(
        request -> request.runs("-- PUT:") ? RequestFate.LOST_REPLY : RequestFate.DELIVERED);
    var put = a.cache.putAsync("k", "new");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(put).isCompletedExceptionally();
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void invalidateThatFails_saysSo() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    var invalidation = a.cache.invalidateAsync("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(invalidation)
        .isCompletedExceptionally()
        .failsWithin(Duration.ZERO)
        .withThrowableOfType(java.util.concurrent.ExecutionException.class)
        .withMessageContaining("may not have happened")
        .withMessageContaining("call it again");
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }
}
