/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheEvent;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadContext;
import dev.paddock.Otherwise;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class WaitingTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void waiter_isToldByAHintAsSoonAsTheValueIsThere() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofMillis(777);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isLessThan(Duration.ofMillis(780));
    assertThat(b.events(CacheEvent.WaitEnded.class))
        .extracting(CacheEvent.WaitEnded::end)
        .containsExactly(CacheEvent.WaitEnd.ANSWERED);
  }

  @Test
  void lostHint_isMadeGoodByThePollUnderIt() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MESSAGE") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isBetween(Fleet.LOAD, Fleet.LOAD.plusMillis(1300));
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void channelsDenied_pollsAnswerTheWaiter() {
    fleet.redis.setChannelsDenied(true);
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isBetween(Fleet.LOAD, Fleet.LOAD.plusMillis(400));
  }

  @Test
  void valueStoredBetweenWaitAndSubscription_isSeenByTheLookAfterIt() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    // The subscription takes effect only after the value was stored and its hint sent.
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("SUBSCRIBE")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(250), Duration.ZERO)
                : RequestFate.DELIVERED);
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(waiter.took()).isLessThanOrEqualTo(Duration.ofMillis(251));
  }

  @Test
  void hintWithTheValue_isTheAnswer() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofMillis(10));
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b") && request.runs("-- GET_OR_ACQUIRE:")
                ? RequestFate.LOST_REQUEST
                : RequestFate.DELIVERED);
    fleet.advance(Fleet.LOAD);
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isLessThanOrEqualTo(Fleet.LOAD);
    assertThat(b.events(CacheEvent.Hit.class)).hasSize(1);
  }

  @Test
  void hintThatLingered_isNoAnswerToACallAfterAnInvalidation() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    Answer early = b.get("k");
    fleet.advance(Duration.ofMillis(10));
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MESSAGE")
                ? RequestFate.DELIVERED.delayed(Duration.ofSeconds(1), Duration.ZERO)
                : RequestFate.DELIVERED);
    fleet.advance(Fleet.LOAD);
    assertThat(fleet.stored("k")).isNotNull();
    fleet.source.change();
    fleet.source.takes = Duration.ofSeconds(3);
    a.invalidate("k");
    a.get("k");
    fleet.env.run();
    // Covered by b's next poll, which meets the second load; the hint of the first comes after
    // that.
    Answer late = b.get("k");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(late.value()).isEqualTo("v2");
    assertThat(early.value()).isEqualTo("v2");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void hintWithTheValue_whileCallersTrickleIn_sendsThoseWhoCameLateToOneLook() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.countFromHere();
    a.get("k");
    fleet.env.run();
    List<Answer> early = b.getMany("k", 5);
    fleet.advance(Duration.ofMillis(20));
    List<Answer> late = b.getMany("k", 5);
    fleet.redis.resetCommandCounts();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(early).extracting(Answer::value).containsOnly("v1");
    assertThat(late).extracting(Answer::value).containsOnly("v1");
    // The fill, one look, the end of the subscription.
    assertThat(fleet.commands()).isEqualTo(3);
  }

  @Test
  void hintDuringALook_isFollowedByAnotherLook() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    // The look at the key is over before the value is stored, its reply comes after the hint.
    AtomicInteger looks = new AtomicInteger();
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b")
                    && request.runs("-- GET_OR_ACQUIRE:")
                    && looks.incrementAndGet() == 2
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(300))
                : RequestFate.DELIVERED);
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isBetween(Duration.ofMillis(300), Duration.ofMillis(305));
    assertThat(looks).hasValue(2);
  }

  @Test
  void maxWait_ends_withATypedFailureThatSaysWhenToRetry() {
    fleet.source.takes = LONG;
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", b2 -> Fleet.usual(b2));
    Answer loader = a.get("k");
    fleet.env.run();
    Answer remote = b.get("k");
    Answer local = a.get("k");
    fleet.advance(Duration.ofSeconds(6));
    for (Answer waiter : List.of(remote, local)) {
      assertThat(waiter.error).isInstanceOf(FillTimeoutException.class);
      assertThat(waiter.took()).isEqualTo(Duration.ofSeconds(5));
      assertThat(((FillTimeoutException) Objects.requireNonNull(waiter.error)).retryAfter())
          .isBetween(Duration.ofMillis(1), Duration.ofSeconds(1));
    }
    assertThat(fleet.source.loads).isEqualTo(1);
    fleet.advance(LONG);
    assertThat(loader.value()).isEqualTo("v1");
  }

  @Test
  void maxWaitOfZero_waitsForNobodyButStillLoads() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    var options = a.cache.options().maxWait(Duration.ZERO);
    Answer loader = a.watch("k", a.cache.getAsync("k", fleet.source.loader(), options));
    fleet.env.run();
    Answer waiter = b.watch("k", b.cache.getAsync("k", fleet.source.loader(), options));
    fleet.advance(Duration.ofMillis(10));
    assertThat(waiter.error).isInstanceOf(FillTimeoutException.class);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(loader.value()).isEqualTo("v1");
  }

  @Test
  void fallback_isReturnedAndNotStored() {
    fleet.source.takes = LONG;
    Node a = fleet.node("a", Fleet::usual);
    Node b =
        fleet.node(
            "b", s -> Fleet.usual(s).otherwise(Otherwise.fallback(key -> "instead of " + key)));
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(5));
    assertThat(waiter.value()).isEqualTo("instead of k");
    assertThat(fleet.stored("k")).isNull();
    assertThat(b.events(CacheEvent.Degraded.class))
        .extracting(CacheEvent.Degraded::how)
        .containsExactly(CacheEvent.Degraded.How.FALLBACK);
  }

  @Test
  void fallbackThatThrows_reachesItsCallerAlone() {
    fleet.source.takes = LONG;
    Node a = fleet.node("a", Fleet::usual);
    a.get("k");
    fleet.env.run();
    var broken =
        a.cache
            .options()
            .otherwise(
                Otherwise.<String, String>fallback(
                    key -> {
                      throw new IllegalArgumentException("no");
                    }));
    Answer one = a.watch("k", a.cache.getAsync("k", fleet.source.loader(), broken));
    Answer other = a.get("k");
    fleet.advance(Duration.ofSeconds(6));
    assertThat(one.error).isInstanceOf(IllegalArgumentException.class);
    assertThat(other.error).isInstanceOf(FillTimeoutException.class);
  }

  @Test
  void degradedLoad_isGrantedOncePerLeaseInTheFleet() {
    fleet.source.takes = Duration.ofSeconds(12);
    List<Answer> waiters = new ArrayList<>();
    Node holder = fleet.node("holder", Fleet::usual);
    Answer first = holder.get("k");
    fleet.env.run();
    fleet.source.takes = Duration.ofMillis(300);
    for (int i = 0; i < 4; i++) {
      Node node = fleet.node("n" + i, b -> Fleet.usual(b).otherwise(Otherwise.loadDegraded()));
      waiters.addAll(node.getMany("k", 10));
    }
    fleet.advance(Duration.ofMillis(5_400));
    assertThat(fleet.source.loads).isEqualTo(2);
    List<Answer> answered = waiters.stream().filter(a -> a.error == null).toList();
    List<Answer> failed = waiters.stream().filter(a -> a.error != null).toList();
    assertThat(answered).hasSize(1);
    assertThat(answered.get(0).value()).isEqualTo("v1");
    assertThat(failed).extracting(a -> a.error).hasOnlyElementsOfType(FillTimeoutException.class);
    // The degraded load's value is kept for everybody, and the holder's older one does not undo it.
    assertThat(holder.lookup("k").value()).isEqualTo("v1");
    fleet.advance(LONG);
    assertThat(first.value()).isEqualTo("v1");
    assertThat(holder.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(dev.paddock.spi.FillOutcome.SUPERSEDED);
  }

  @Test
  void degradedLoad_runsWithoutALeaseToLose() {
    fleet.source.takes = Duration.ofSeconds(12);
    Node holder = fleet.node("holder", Fleet::usual);
    holder.get("k");
    fleet.env.run();
    List<LoadContext<String, String>> contexts = new ArrayList<>();
    fleet.source.onLoad = contexts::add;
    Node other = fleet.node("other", b -> Fleet.usual(b).otherwise(Otherwise.loadDegraded()));
    other.get("k");
    fleet.advance(LONG);
    assertThat(contexts).hasSize(1);
    assertThat(contexts.get(0).isLeased()).isFalse();
    assertThat(contexts.get(0).isLeaseLost()).isFalse();
    assertThat(other.events(CacheEvent.LoadStarted.class))
        .extracting(CacheEvent.LoadStarted::leased)
        .containsExactly(false);
    assertThat(other.events(CacheEvent.LeaseLost.class)).isEmpty();
    assertThat(other.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void holderThatDied_isReplacedWhenItsLeaseHasRunOut() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofMinutes(5);
    a.get("k");
    fleet.env.run();
    fleet.redis.setInterceptor(
        request -> request.client().equals("a") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    fleet.source.takes = Fleet.LOAD;
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(waiter.value()).isEqualTo("v1");
    assertThat(waiter.took()).isBetween(Duration.ofMillis(1200), Duration.ofMillis(1230));
    assertThat(fleet.source.loads).isEqualTo(2);
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void maxWait_isCountedFromTheCallTheFirstReadIncluded() {
    fleet.source.takes = LONG;
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b") && request.name().equals("GET")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(800))
                : RequestFate.DELIVERED);
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofSeconds(6));
    assertThat(waiter.error).isInstanceOf(FillTimeoutException.class);
    assertThat(waiter.took()).isEqualTo(Duration.ofSeconds(5));
  }

  @Test
  void waiters_areAnsweredThoughTheirOwnMaxWaitsDiffer() {
    fleet.source.takes = Duration.ofSeconds(2);
    Node a = fleet.node("a", Fleet::usual);
    Answer loader = a.get("k");
    fleet.env.run();
    var impatient = a.cache.options().maxWait(Duration.ofSeconds(1));
    Answer one = a.watch("k", a.cache.getAsync("k", fleet.source.loader(), impatient));
    Answer other = a.get("k");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(one.error).isInstanceOf(FillTimeoutException.class);
    assertThat(one.took()).isEqualTo(Duration.ofSeconds(1));
    assertThat(other.value()).isEqualTo("v1");
    assertThat(loader.value()).isEqualTo("v1");
  }

  @Test
  void waitingFlight_thatEverybodyLeft_stopsPolling() {
    fleet.source.takes = Duration.ofSeconds(10);
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofMillis(100));
    waiter.future.cancel(true);
    fleet.advance(Duration.ofSeconds(2));
    fleet.redis.resetCommandCounts();
    fleet.advance(Duration.ofSeconds(2));
    // What is left are the holder's renewals.
    assertThat(fleet.redis.commandCounts()).containsOnlyKeys("EVALSHA");
    assertThat(fleet.commands()).isBetween(5L, 7L);
    assertThat(fleet.redis.subscriptionCount()).isZero();
  }
}
