/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.Lookup;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Values kept in the process, and what ends them. */
final class NearCacheTest {
  private static final Duration NEAR = Duration.ofSeconds(5);

  private final Fleet fleet = new Fleet();
  private final List<Node> nodes = new ArrayList<>();

  @AfterEach
  void restsOnceClosed() {
    nodes.forEach(Node::close);
    fleet.assertAtRest();
  }

  private Node node(String name, UnaryOperator<CacheBuilder<String, String>> settings) {
    Node node = fleet.node(name, builder -> settings.apply(Fleet.usual(builder)));
    nodes.add(node);
    return node;
  }

  private Node near(String name) {
    return node(name, builder -> builder.nearMaxEntries(100));
  }

  /** Starts a process that keeps the value of "k" near. */
  private Node holding(String name) {
    Node node = near(name);
    fleet.advance(Duration.ofMillis(10));
    node.put("k", "v0");
    // The first hit also subscribes, which ends what was kept before.
    node.lookup("k");
    fleet.advance(Duration.ofMillis(10));
    node.lookup("k");
    fleet.redis.resetCommandCounts();
    assertThat(node.lookup("k").value()).isEqualTo("v0");
    assertThat(fleet.commands()).isZero();
    return node;
  }

  private void loseMessages() {
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("MESSAGE") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
  }

  @Test
  void hit_thatIsKept_needsNoCommandUntilTheNearTtlIsOver() {
    Node a = holding("a");
    for (int i = 0; i < 10; i++) {
      Answer hit = a.get("k");
      fleet.env.run();
      assertThat(hit.value()).isEqualTo("v0");
      assertThat(a.lookup("k").value()).isEqualTo("v0");
    }
    assertThat(fleet.commands()).isZero();
    assertThat(a.events(CacheEvent.NearHit.class))
        .hasSize(21)
        .allMatch(hit -> hit.key().equals("c:k"));

    fleet.advance(NEAR);

    assertThat(a.lookup("k").value()).isEqualTo("v0");
    assertThat(fleet.redis.commandCounts()).containsEntry("GET", 1L);
  }

  @Test
  void value_isNotKeptBeyondItsSoftTtl() {
    Node a = node("a", builder -> builder.nearMaxEntries(10).nearTimeToLive(Duration.ofHours(1)));
    a.put("k", "v0");
    a.lookup("k");
    fleet.advance(Duration.ofMillis(10));
    a.lookup("k");

    fleet.advance(Duration.ofSeconds(10));

    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void changesHere_endWhatIsKept_beforeTheyReturn() {
    Node a = holding("a");
    a.put("k", "v1");
    assertThat(a.lookup("k").value()).isEqualTo("v1");
    a.lookup("k");
    a.expire("k");
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
    a.put("k", "v2");
    a.lookup("k");
    a.invalidate("k");
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void changesElsewhere_endWhatIsKept_onceTheyAreTold() {
    Node a = holding("a");
    Node b = fleet.node("b", Fleet::usual);
    nodes.add(b);

    b.put("k", "v1");
    fleet.advance(Duration.ofMillis(10));
    assertThat(a.lookup("k").value()).isEqualTo("v1");

    b.invalidate("k");
    fleet.advance(Duration.ofMillis(10));
    assertThat(a.lookup("k").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void changeElsewhere_thatIsNotTold_countsAfterTheNearTtl() {
    Node a = holding("a");
    Node b = fleet.node("b", Fleet::usual);
    nodes.add(b);
    loseMessages();
    b.put("k", "v1");
    fleet.advance(NEAR.minusMillis(100));
    assertThat(a.lookup("k").value()).isEqualTo("v0");
    fleet.advance(Duration.ofMillis(100));
    assertThat(a.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void fill_isToldToNobody() {
    Node a = holding("a");
    Node b = fleet.node("b", Fleet::usual);
    nodes.add(b);
    b.expire("other");
    fleet.advance(Duration.ofMillis(10));
    a.lookup("k");
    int[] messages = {0};
    fleet.redis.setInterceptor(
        request -> {
          if (request.name().equals("MESSAGE")) {
            messages[0]++;
          }
          return RequestFate.DELIVERED;
        });
    b.get("cold");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(messages[0]).isZero();
    b.invalidate("cold");
    fleet.advance(Duration.ofMillis(10));
    assertThat(messages[0]).isEqualTo(1);
  }

  @Test
  void valueReadBeforeAChangeThatWasToldMeanwhile_isNotKept() {
    Node a = holding("a");
    Node b = fleet.node("b", Fleet::usual);
    nodes.add(b);
    fleet.advance(NEAR);
    // The reply of a's GET travels for a second; the change and its message overtake it.
    fleet.redis.setInterceptor(
        request ->
            request.name().equals("GET") && request.client().equals("a")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(900))
                : RequestFate.DELIVERED);
    Answer slow = a.get("k");
    fleet.env.run();
    b.put("k", "v1");
    fleet.advance(Duration.ofSeconds(1));
    fleet.redis.setInterceptor(request -> RequestFate.DELIVERED);

    assertThat(slow.value()).isEqualTo("v0");
    assertThat(a.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void lostConnectionOfMessages_endsEverythingThatIsKept() {
    Node a = holding("a");
    // As a transport says it that has subscribed again.
    fleet.redis.command("PUBLISH", "pdk:changes:c:", "");
    fleet.advance(Duration.ofMillis(10));
    a.lookup("k");
    assertThat(fleet.redis.commandCounts()).containsEntry("GET", 1L);
  }

  @Test
  void callThatWantsAFreshValue_goesPastIt() {
    Node a = holding("a");
    a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().alwaysFresh()));
    fleet.advance(Duration.ofMillis(10));
    assertThat(fleet.redis.commandCounts()).containsEntry("GET", 1L);
  }

  @Test
  void switchedOffOrBypassed_isNotAnsweredFromIt() {
    Node a = holding("a");
    Answer bypassed =
        a.watch("k", a.cache.getAsync("k", fleet.source.loader(), a.cache.options().bypass()));
    a.cache.setEnabled(false);
    Answer off = a.get("k");
    fleet.advance(Fleet.LOAD);
    assertThat(bypassed.value()).isEqualTo("v1");
    assertThat(off.value()).isEqualTo("v1");
  }

  @Test
  void refresh_loadsAllTheSame_andItsValueIsSeenHere() {
    Node a = holding("a");
    a.watch("k", a.cache.refresh("k", fleet.source.loader()));
    fleet.advance(Fleet.LOAD.plusMillis(10));
    assertThat(fleet.source.loads).isEqualTo(1);
    assertThat(a.lookup("k").value()).isEqualTo("v1");
  }

  @Test
  void tag_invalidatedElsewhere_endsItsValuesAlone() {
    Node a = node("a", builder -> builder.nearMaxEntries(10).tagLag(Duration.ofSeconds(1)));
    Node b = node("b", builder -> builder.tagLag(Duration.ofSeconds(1)));
    fleet.source.onLoad = context -> context.tags(context.key());
    for (String key : List.of("red", "blue")) {
      b.get(key);
      fleet.advance(Fleet.LOAD.plusMillis(10));
      a.lookup(key);
      fleet.advance(Duration.ofMillis(10));
      a.lookup(key);
    }
    fleet.redis.resetCommandCounts();
    b.invalidateTag("red");
    fleet.advance(Duration.ofMillis(10));

    assertThat(a.lookup("blue").value()).isEqualTo("v1");
    assertThat(fleet.redis.commandCounts()).doesNotContainKey("GET");
    assertThat(a.lookup("red").state()).isEqualTo(Lookup.State.MISSING);

    b.clear();
    fleet.advance(Duration.ofMillis(10));
    assertThat(a.lookup("blue").state()).isEqualTo(Lookup.State.MISSING);
  }

  @Test
  void bulkRead_asksForTheRestOnly() {
    Node a = holding("a");
    a.put("other", "x");
    fleet.redis.resetCommandCounts();
    var all =
        fleet.env.await(
            a.cache.getAllAsync(
                List.of("k", "other"),
                (keys, context) -> {
                  throw new IllegalStateException("nothing is missing: " + keys);
                },
                a.cache.options()),
            Duration.ofSeconds(1));
    assertThat(all).containsEntry("k", "v0").containsEntry("other", "x");
    assertThat(fleet.commands()).isEqualTo(1);
  }

  @Test
  void weigherThatThrows_onlyKeepsNothing() {
    Node a =
        node(
            "a",
            builder ->
                builder.nearMaxWeight(
                    10,
                    (key, value) -> {
                      throw new IllegalStateException("weigh");
                    }));
    a.put("k", "v0");
    assertThat(a.lookup("k").value()).isEqualTo("v0");
    Answer answer = a.get("k");
    fleet.advance(Duration.ofMillis(10));
    assertThat(answer.value()).isEqualTo("v0");
  }

  @Test
  void weight_boundsIt() {
    Node a =
        node(
            "a",
            builder ->
                builder.nearMaxWeight(10, (key, value) -> value == null ? 1 : value.length()));
    for (String key : List.of("1", "2", "3", "4")) {
      a.put(key, "four");
      a.lookup(key);
      fleet.advance(Duration.ofMillis(10));
      a.lookup(key);
    }
    fleet.redis.resetCommandCounts();
    for (String key : List.of("1", "2", "3", "4")) {
      a.lookup(key);
    }
    assertThat(fleet.redis.commandCounts().getOrDefault("GET", 0L)).isGreaterThanOrEqualTo(2);
  }
}
