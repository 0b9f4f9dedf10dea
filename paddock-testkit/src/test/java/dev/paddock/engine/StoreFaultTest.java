/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codec;
import dev.paddock.Codecs;
import dev.paddock.Lookup;
import dev.paddock.StoreException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.spi.FillOutcome;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that fails, loses replies, is full, or holds what is none of ours. */
final class StoreFaultTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.redis.setOutOfMemory(false);
    fleet.redis.setReadOnly(false);
    fleet.assertAtRest();
  }

  @Test
  void storeThatRefuses_costsTheProtectionOfTheFleetNotTheAnswer() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    List<Answer> answers = a.getMany("k", 50);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(answers).allMatch(answer -> answer.took().compareTo(Duration.ofMillis(410)) < 0);
    // Behind the local flight: one load at a time, and those that came during it share the next.
    assertThat(fleet.source.mostAtOnce).isEqualTo(1);
    assertThat(fleet.source.loads).isLessThanOrEqualTo(2);
    assertThat(a.events(CacheEvent.Miss.class)).isEmpty();
    assertThat(a.events(CacheEvent.StoreFailed.class)).isNotEmpty();
  }

  @Test
  void storeThatHangs_costsOneTimeoutNotTwo() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    Answer answer = a.get("k");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(answer.took())
        .isBetween(
            Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD),
            Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD).plusMillis(5));
  }

  @Test
  void putThatFails_saysWhetherItMayHaveHappened() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    var unsent = a.watch("k", a.cache.putAsync("k", "x").thenApply(nothing -> null));
    fleet.advance(Duration.ofSeconds(4));
    fleet.redis.setInterceptor(request -> RequestFate.BROKEN_AFTER);
    var unknown = a.watch("k", a.cache.putAsync("k", "x").thenApply(nothing -> null));
    fleet.advance(Duration.ofSeconds(4));
    assertThat(failure(unsent).mayHaveHappened()).isFalse();
    assertThat(failure(unknown).mayHaveHappened()).isTrue();
  }

  private static StoreException failure(Answer answer) {
    return (StoreException) Objects.requireNonNull(Objects.requireNonNull(answer.error).getCause());
  }

  @Test
  void storeThatRefuses_callersThatComeDuringALongLoadShareIt() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    fleet.source.takes = Duration.ofSeconds(3);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      answers.add(a.get("k"));
      fleet.advance(Duration.ofMillis(100));
    }
    fleet.advance(Duration.ofSeconds(3));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void storeThatRefuses_callersAfterAnInvalidationDoNotShareTheLoadBeforeIt() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    Answer early = a.get("k");
    fleet.advance(Duration.ofMillis(50));
    fleet.source.change();
    Answer invalidation = a.watch("k", a.cache.invalidateAsync("k").thenApply(nothing -> null));
    fleet.advance(Duration.ofMillis(10));
    Answer late = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(invalidation.error).isNotNull();
    assertThat(early.value()).isEqualTo("v1");
    assertThat(late.value()).isEqualTo("v2");
  }

  @Test
  void storeThatHangs_costsThoseWhoQueueBehindTheFirstNoMore() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      answers.add(a.get("k"));
      fleet.advance(Duration.ofMillis(20));
    }
    CompletableFuture<Lookup<String>> lookup = a.cache.lookupAsync("k");
    fleet.advance(Duration.ofSeconds(4));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(answers)
        .allMatch(
            answer ->
                answer.took().compareTo(Fleet.COMMAND_TIMEOUT.plus(Fleet.LOAD).plusMillis(5)) < 0);
    assertThat(fleet.source.loads).isEqualTo(1);
    assertThat(lookup).isCompletedExceptionally();
  }

  @Test
  void callersDuringALoadWithoutTheStore_doNotAskItAgain() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- GET_OR_ACQUIRE:") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    fleet.countFromHere();
    Answer first = a.get("k");
    fleet.advance(Fleet.COMMAND_TIMEOUT.plusMillis(50));
    Answer late = a.get("k");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(late.value()).isEqualTo("v1");
    assertThat(late.took()).isLessThan(Fleet.LOAD.multipliedBy(2));
  }

  @Test
  void storeThatFails_isToldToLookupButNotToGetIfPresent() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    var lookup = a.cache.lookupAsync("k");
    var present = a.cache.getIfPresentAsync("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(lookup).isCompletedExceptionally();
    assertThat(present).isCompletedWithValue(null);
  }

  @Test
  void acquireWithALostReply_doesNotBlockTheKeyForALease() {
    Node a = fleet.node("a", s -> s.leaseTime(Duration.ofSeconds(30)));
    Node b = fleet.node("b", s -> s.leaseTime(Duration.ofSeconds(30)));
    AtomicBoolean lost = new AtomicBoolean();
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- GET_OR_ACQUIRE:") && lost.compareAndSet(false, true)
                ? RequestFate.LOST_REPLY
                : RequestFate.DELIVERED);
    fleet.countFromHere();
    lost.set(false);
    Answer unlucky = a.get("k");
    fleet.advance(Duration.ofMillis(1_010));
    // The ghost lease has been given back: b is granted at once.
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(unlucky.value()).isEqualTo("v1");
    assertThat(other.value()).isEqualTo("v1");
    assertThat(other.took()).isLessThan(Fleet.LOAD.plusMillis(5));
  }

  @Test
  void acquireAnsweredTooLate_isReleasedThoughTheFirstReleasesWereLost() {
    Node a = fleet.node("a", s -> s.leaseTime(Duration.ofSeconds(30)));
    Node b = fleet.node("b", s -> s.leaseTime(Duration.ofSeconds(30)));
    AtomicInteger releases = new AtomicInteger();
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request -> {
          if (request.client().equals("b")) {
            return RequestFate.DELIVERED;
          }
          if (request.runs("-- RELEASE:")) {
            return releases.incrementAndGet() <= 2
                ? RequestFate.LOST_REQUEST
                : RequestFate.DELIVERED;
          }
          return request.runs("-- GET_OR_ACQUIRE:")
              ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofSeconds(4))
              : RequestFate.DELIVERED;
        });
    Answer unlucky = a.get("k");
    fleet.advance(Duration.ofMillis(4_010));
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(unlucky.value()).isEqualTo("v1");
    assertThat(other.took()).isLessThan(Fleet.LOAD.plusMillis(5));
    assertThat(releases).hasValue(3);
  }

  @Test
  void acquireThatLingeredPastItsDeadline_takesNoLease() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- GET_OR_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ofSeconds(3), Duration.ZERO)
                : RequestFate.DELIVERED);
    a.get("k");
    fleet.advance(Duration.ofSeconds(5));
    assertThat(fleet.redis.snapshot().keySet().toString()).doesNotContain("pdk:");
  }

  @Test
  void fillWithALostReply_isSentAgainAndKnownForAReplay() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.countFromHere();
    AtomicInteger fills = new AtomicInteger();
    fleet.redis.setInterceptor(
        request ->
            request.runs("-- FILL:") && fills.incrementAndGet() == 1
                ? RequestFate.LOST_REPLY
                : RequestFate.DELIVERED);
    Answer answer = a.get("k");
    fleet.advance(Duration.ofSeconds(3));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(fills).hasValue(2);
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .last()
        .isEqualTo(FillOutcome.STORED);
  }

  @Test
  void fillThatNeverArrives_releasesTheLease() {
    Node a =
        fleet.node(
            "a", b -> b.timeToLive(Duration.ofSeconds(10)).leaseTime(Duration.ofSeconds(60)));
    Node b = fleet.node("b", Fleet::usual);
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request -> request.runs("-- FILL:") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    a.get("k");
    fleet.advance(Duration.ofSeconds(6));
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(other.value()).isEqualTo("v1");
    assertThat(other.took()).isLessThan(Fleet.LOAD.plusMillis(5));
  }

  @Test
  void callerDuringALoadWhoseFillIsInDoubt_readsAgain() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.countFromHere();
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.source.change();
    b.invalidate("k");
    Answer late = a.get("k");
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("a") && request.runs("-- FILL:")
                ? RequestFate.BROKEN_BEFORE
                : RequestFate.DELIVERED);
    fleet.advance(Duration.ofMillis(101));
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);
    fleet.advance(Duration.ofSeconds(2));
    assertThat(late.value()).isEqualTo("v2");
  }

  @Test
  void fullStore_readsGoOnAndNothingIsStored() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("there", "x");
    fleet.redis.setOutOfMemory(true);
    Answer cold = a.get("k");
    Answer hit = a.get("there");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(cold.value()).isEqualTo("v1");
    assertThat(hit.value()).isEqualTo("x");
    assertThat(fleet.stored("k")).isNull();
  }

  @Test
  void storeThatFillsUpDuringALoad_refusesTheFillAndTheLeaseIsReleased() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    Answer first = a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.redis.setOutOfMemory(true);
    fleet.advance(Duration.ofMillis(150));
    assertThat(first.value()).isEqualTo("v1");
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.REFUSED);
    fleet.redis.setOutOfMemory(false);
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(other.took()).isLessThan(Fleet.LOAD.plusMillis(5));
  }

  @Test
  void readOnlyStore_isNoMissAndEachProcessLoadsForItself() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.setReadOnly(true);
    List<Answer> answers = a.getMany("k", 20);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.mostAtOnce).isEqualTo(1);
  }

  @Test
  void scriptFlush_isHealedByTheNextCall() {
    Node a = fleet.node("a", Fleet::usual);
    a.get("k");
    fleet.advance(Duration.ofMillis(100));
    fleet.redis.scriptFlush();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.stored("k")).isNotNull();
    fleet.redis.scriptFlush();
    a.invalidate("k");
    assertThat(fleet.stored("k")).isNull();
  }

  @Test
  void foreignBytes_areAMissAndReplaced() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.command("SET", "c:k", "\u0000not ours");
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    Answer answer = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(a.lookup("k").value()).isEqualTo("v1");
    assertThat(a.events(CacheEvent.Unreadable.class)).hasSize(2);
  }

  @Test
  void keyOfAnotherType_isAMissAndReplaced() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.redis.command("HSET", "c:k", "f", "v");
    Answer answer = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(Objects.requireNonNull(fleet.stored("k")).type()).isEqualTo("string");
  }

  @Test
  void payloadThatTheCodecRefuses_isReplacedNotLoopedOver() {
    Node a = fleet.node("a", Fleet::usual);
    Cache<String, byte[]> raw =
        a.paddock.cache("raw", Codecs.bytes()).timeToLive(Duration.ofMinutes(5)).build();
    fleet.env.await(
        raw.putAsync("k", new byte[] {(byte) 0xff, (byte) 0xfe}), Duration.ofSeconds(1));
    String header =
        Objects.requireNonNull(
                fleet.redis.snapshot().entrySet().stream()
                    .filter(entry -> entry.getKey().toString().equals("raw:k"))
                    .findFirst()
                    .orElseThrow()
                    .getValue()
                    .string())
            .substring(0, 99);
    byte[] damaged =
        (header + "\u00ff\u00fe").getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    fleet.redis.command("SET", "c:k", damaged, "PX", "60000");
    fleet.redis.resetCommandCounts();
    Answer answer = a.get("k");
    Answer other = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(other.value()).isEqualTo("v1");
    assertThat(a.lookup("k").value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(1);
  }

  @Test
  void valueOfAnotherSchemaVersion_isAMissForBothAndNobodyLoops() {
    Node a = fleet.node("a", Fleet::usual);
    Cache<String, String> one = a.paddock.cache("v", versioned(1)).build();
    Node b = fleet.node("b", Fleet::usual);
    Cache<String, String> two = b.paddock.cache("v", versioned(2)).build();
    fleet.env.await(one.putAsync("k", "by one"), Duration.ofSeconds(1));
    assertThat(fleet.env.await(two.lookupAsync("k"), Duration.ofSeconds(1)).isMissing()).isTrue();
    Answer upgraded = b.watch("k", two.getAsync("k", key -> "by two"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(upgraded.value()).isEqualTo("by two");
    Answer old = a.watch("k", one.getAsync("k", key -> "by one again"));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(old.value()).isEqualTo("by one again");
    fleet.redis.resetCommandCounts();
    fleet.advance(Duration.ofSeconds(5));
    assertThat(fleet.commands()).isZero();
  }

  private static Codec<String> versioned(int version) {
    return new Codec<>() {
      @Override
      public byte[] encode(String value) {
        return Codecs.string().encode(value);
      }

      @Override
      public String decode(byte[] payload) {
        return Codecs.string().decode(payload);
      }

      @Override
      public int schemaVersion() {
        return version;
      }
    };
  }

  @Test
  void clientsWithWrongWallClocks_neitherServeStaleNorRefreshInAStorm() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("k", "x");
    fleet.env.stepWall(Duration.ofDays(-1));
    fleet.redis.stepClock(Duration.ofDays(1));
    for (int i = 0; i < 20; i++) {
      Answer answer = a.get("k");
      fleet.advance(Duration.ofMillis(100));
      assertThat(answer.value()).isEqualTo("x");
    }
    assertThat(fleet.source.loads).isZero();
    fleet.advance(Duration.ofSeconds(9));
    Answer late = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(late.value()).isEqualTo("v1");
  }

  @Test
  void compressedValue_comesBackAndABombIsRefused() {
    Node a = fleet.node("a", Fleet::usual);
    Cache<String, String> packed =
        a.paddock.cache("p", Codecs.string()).compressAbove(100).maxValueBytes(100_000).build();
    Cache<String, String> small =
        a.paddock.cache("s", Codecs.string()).compressAbove(100).maxValueBytes(1_000).build();
    String text = "abc ".repeat(10_000);
    fleet.env.await(packed.putAsync("k", text), Duration.ofSeconds(1));
    var state =
        fleet.redis.snapshot().entrySet().stream()
            .filter(entry -> entry.getKey().toString().equals("p:k"))
            .findFirst()
            .orElseThrow()
            .getValue();
    String stored = Objects.requireNonNull(state.string());
    assertThat(stored.length()).isLessThan(2_000);
    assertThat(fleet.env.await(packed.getIfPresentAsync("k"), Duration.ofSeconds(1)))
        .isEqualTo(text);
    fleet.redis.command(
        "SET", "s:k", stored.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1), "PX", "60000");
    assertThat(fleet.env.await(small.getIfPresentAsync("k"), Duration.ofSeconds(1))).isNull();
    assertThat(a.events(CacheEvent.Unreadable.class)).hasSize(1);
  }

  @Test
  void serverThatWentBackInTime_doesNotLetAnOlderLoadReplaceANewerOne() {
    Node a = fleet.node("a", b -> Fleet.usual(b).renewal(false));
    Node b = fleet.node("b", s -> Fleet.usual(s).renewal(false));
    fleet.source.takes = Duration.ofSeconds(3);
    Answer older = a.get("k");
    fleet.advance(Duration.ofMillis(500));
    InMemoryRedis.Saved saved = fleet.redis.save();
    fleet.advance(Duration.ofMillis(700));
    fleet.source.change();
    fleet.source.takes = Duration.ofMillis(500);
    Answer newer = b.get("k");
    fleet.advance(Duration.ofMillis(100));
    assertThat(b.events(CacheEvent.LeaseGranted.class))
        .singleElement()
        .matches(granted -> granted.seq() == 2);
    fleet.redis.restart(saved);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(newer.value()).isEqualTo("v2");
    fleet.advance(Duration.ofSeconds(2));
    assertThat(older.isDone()).isTrue();
    assertThat(a.events(CacheEvent.FillEnded.class))
        .extracting(CacheEvent.FillEnded::outcome)
        .containsExactly(FillOutcome.SUPERSEDED);
    assertThat(a.lookup("k").value()).isEqualTo("v2");
  }
}
