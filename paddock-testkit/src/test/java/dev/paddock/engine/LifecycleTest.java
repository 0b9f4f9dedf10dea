/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.Codecs;
import dev.paddock.PaddockClosedException;
import dev.paddock.RecursiveLoadException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Closing, switching off, and calls that contradict themselves. */
final class LifecycleTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void close_duringALoad_freesTheLeaseAndEndsEveryWait() {
    Node a =
        fleet.node(
            "a", b -> b.timeToLive(Duration.ofSeconds(10)).leaseTime(Duration.ofSeconds(60)));
    Node b = fleet.node("b", Fleet::usual);
    List<Answer> local = a.getMany("k", 5);
    fleet.advance(Duration.ofMillis(50));
    Answer remote = b.get("k");
    fleet.advance(Duration.ofMillis(50));
    a.close();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(local)
        .extracting(answer -> answer.error)
        .hasOnlyElementsOfType(PaddockClosedException.class);
    // The other process did not have to wait for the lease to run out.
    assertThat(remote.value()).isEqualTo("v1");
    assertThat(remote.took()).isLessThan(Duration.ofMillis(300));
  }

  @Test
  void close_whileTheLeaseIsOnItsWay_givesItBack() {
    Node a = fleet.node("a", s -> s.leaseTime(Duration.ofSeconds(60)));
    Node b = fleet.node("b", s -> s.leaseTime(Duration.ofSeconds(60)));
    fleet.countFromHere();
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("a") && request.runs("-- GET_OR_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(300))
                : RequestFate.DELIVERED);
    Answer unlucky = a.get("k");
    fleet.advance(Duration.ofMillis(10));
    a.close();
    Answer other = b.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(unlucky.error).isInstanceOf(PaddockClosedException.class);
    assertThat(other.value()).isEqualTo("v1");
    assertThat(other.took()).isLessThan(Fleet.LOAD.plusMillis(5));
  }

  @Test
  void close_whileWaitingForAnother_endsTheWait() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    a.get("k");
    fleet.env.run();
    Answer waiter = b.get("k");
    fleet.advance(Duration.ofMillis(50));
    b.close();
    assertThat(waiter.error).isInstanceOf(PaddockClosedException.class);
  }

  @Test
  void calls_afterClose_failClearly() {
    Node a = fleet.node("a", Fleet::usual);
    a.close();
    a.close();
    Answer answer = a.get("k");
    fleet.advance(Duration.ofMillis(1));
    assertThat(answer.error).isInstanceOf(PaddockClosedException.class);
    assertThat(a.cache.putAsync("k", "x")).isCompletedExceptionally();
    assertThat(a.cache.invalidateAsync("k")).isCompletedExceptionally();
  }

  @Test
  void switchedOff_everyCallLoadsForItselfAndNothingIsRead() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("k", "cached");
    a.cache.setEnabled(false);
    fleet.redis.resetCommandCounts();
    List<Answer> answers = a.getMany("k", 5);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(5);
    assertThat(fleet.commands()).isZero();
    a.invalidate("k");
    assertThat(fleet.stored("k")).isNull();
    a.cache.setEnabled(true);
    a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.stored("k")).isNotNull();
  }

  @Test
  void bypass_appliesToItsCallAlone() {
    Node a = fleet.node("a", Fleet::usual);
    a.put("k", "cached");
    Answer bypassed =
        a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().bypass()));
    Answer usual = a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(bypassed.value()).isEqualTo("v1");
    assertThat(usual.value()).isEqualTo("cached");
  }

  @Test
  void loaderThatAsksForItsOwnKey_failsAtOnce() {
    Node a = fleet.node("a", Fleet::usual);
    AtomicReference<Throwable> inside = new AtomicReference<>();
    Answer answer =
        a.watch(
            "k",
            a.cache.getAsync(
                "k",
                key -> {
                  try {
                    var unused = a.cache.getAsync(key, fleet.source.loader());
                  } catch (RecursiveLoadException e) {
                    inside.set(e);
                  }
                  return "done";
                }));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("done");
    assertThat(inside.get()).hasMessageContaining("c:k");
  }

  @Test
  void loaderThatAsksForAnotherKey_isServed() {
    Node a = fleet.node("a", Fleet::usual);
    Answer answer =
        a.watch(
            "outer",
            a.cache.getAsync(
                "outer",
                dev.paddock.Loader.<String, String>async(
                    key -> a.cache.getAsync("inner", fleet.source.loader()))));
    fleet.advance(Duration.ofSeconds(1));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(a.lookup("inner").value()).isEqualTo("v1");
  }

  @Test
  void retryInsideACallback_startsAfresh() {
    Node a = fleet.node("a", Fleet::usual);
    fleet.source.failure = new IllegalStateException("once");
    CompletableFuture<String> first = a.cache.getAsync("k", fleet.source.loader());
    AtomicReference<Answer> retried = new AtomicReference<>();
    var unused =
        first.whenComplete(
            (value, error) -> {
              fleet.source.failure = null;
              retried.set(
                  a.watch(
                      "k",
                      a.cache.getAsync("k", fleet.source.loader(), a.cache.options().bypass())));
            });
    fleet.advance(Duration.ofSeconds(1));
    assertThat(first).isCompletedExceptionally();
    assertThat(Objects.requireNonNull(retried.get()).value()).isEqualTo("v1");
  }

  @Test
  void cacheNames_areUniqueInAPaddock() {
    Node a = fleet.node("a", Fleet::usual);
    assertThatThrownBy(() -> a.paddock.cache("c", dev.paddock.Codecs.string()).build())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("\"c\"");
  }

  @Test
  void keys_ofAnyBytesUpTo64KiB_work() {
    Node a = fleet.node("a", Fleet::usual);
    for (String key :
        List.of(
            "", " ", "{", "}", "{}", "}a", "a}b", "{a}", "x{y}z", "\n", "ключ", "𝄞", "\u0000")) {
      Answer answer = a.watch(key, a.cache.getAsync(key, k -> "value of " + k));
      fleet.advance(Duration.ofMillis(10));
      assertThat(answer.value()).isEqualTo("value of " + key);
      assertThat(a.lookup(key).value()).isEqualTo("value of " + key);
    }
    String longest = "x".repeat(64 * 1024);
    a.put(longest, "long");
    assertThat(a.lookup(longest).value()).isEqualTo("long");
    assertThatThrownBy(() -> a.cache.getAsync(longest + "x", fleet.source.loader()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65537")
        .hasMessageContaining("65536");
  }

  @Test
  void cacheOfAClosedPaddock_isRefused() {
    Node node = fleet.node("a", Fleet::usual);
    node.close();
    assertThatThrownBy(() -> node.paddock.cache("another", Codecs.string()).build())
        .isInstanceOf(PaddockClosedException.class)
        .hasMessageContaining("another");
  }
}
