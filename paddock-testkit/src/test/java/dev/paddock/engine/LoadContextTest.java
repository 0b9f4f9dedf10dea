/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.LoadFailedException;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a loader says about its own value. */
final class LoadContextTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private Answer load(Node node) {
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(300));
    return answer;
  }

  @Test
  void notModified_keepsTheStaleValueAndRenewsItsTtl() {
    Node node = fleet.node("a", b -> Fleet.usual(b).failSafeFor(Duration.ofMinutes(1)));
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.onLoad = context -> context.notModified();
    assertThat(load(node).value()).isEqualTo("old");
    fleet.advance(Duration.ofSeconds(9));
    assertThat(load(node).value()).isEqualTo("old");
    assertThat(fleet.source.loads).isEqualTo(1);
    fleet.source.onLoad = null;
    fleet.advance(Duration.ofSeconds(2));
    assertThat(load(node).value()).isEqualTo("v1");
  }

  @Test
  void notModified_withoutAStaleValue_failsTheLoad() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.source.onLoad = context -> context.notModified();
    assertThat(load(node).error)
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(IllegalStateException.class)
        .rootCause()
        .hasMessageContaining("c:k")
        .hasMessageContaining("staleValue()");
  }

  @Test
  void notModified_afterAnInvalidation_doesNotBringTheValueBack() {
    Node node = fleet.node("a", b -> Fleet.usual(b).failSafeFor(Duration.ofMinutes(1)));
    node.put("k", "old");
    fleet.advance(Duration.ofSeconds(11));
    fleet.source.onLoad = context -> context.notModified();
    node.get("k");
    fleet.advance(Duration.ofMillis(100));
    node.invalidate("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(fleet.stored("k")).isNull();
  }

  @Test
  void coolDown_ofOneFailure_isTheOneThatItChose() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.failure = new IllegalStateException("429, retry after 20 s");
    fleet.source.onLoad = context -> context.coolDown(Duration.ofSeconds(20));
    LoadFailedException failed = (LoadFailedException) requireNonNull(load(a).error);
    assertThat(failed.retryAfter()).isEqualTo(Duration.ofSeconds(20));
    fleet.advance(Duration.ofSeconds(19));
    fleet.source.failure = null;
    assertThat(load(b).error).isInstanceOf(LoadFailedException.class).hasNoCause();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(load(b).value()).isEqualTo("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void coolDownOfZero_letsTheNextLoadBeginAtOnce() {
    Node node = fleet.node("a", Fleet::usual);
    fleet.source.failure = new IllegalStateException("once");
    fleet.source.onLoad = context -> context.coolDown(Duration.ZERO);
    load(node);
    fleet.source.failure = null;
    assertThat(load(node).value()).isEqualTo("v1");
  }

  @Test
  void serveStaleFor_ofOneValue_shortensHowLongItIsKept() {
    Node node = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    fleet.source.onLoad = context -> context.serveStaleFor(Duration.ofSeconds(2));
    load(node);
    assertThat(requireNonNull(fleet.stored("k")).ttlMillis()).isBetween(11_800L, 12_000L);
    fleet.source.change();
    fleet.advance(Duration.ofSeconds(13));
    Answer next = load(node);
    assertThat(next.value()).isEqualTo("v2");
    assertThat(next.took()).isGreaterThanOrEqualTo(Fleet.LOAD);
  }

  @Test
  void serveStaleFor_ofOneValue_beyondTheCaches_isRefused() {
    Node node = fleet.node("a", b -> Fleet.usual(b).serveStaleFor(Duration.ofMinutes(1)));
    fleet.source.onLoad = context -> context.serveStaleFor(Duration.ofMinutes(2));
    assertThat(load(node).error)
        .isInstanceOf(LoadFailedException.class)
        .hasCauseInstanceOf(IllegalArgumentException.class)
        .rootCause()
        .hasMessageContaining("PT1M")
        .hasMessageContaining("PT2M");
  }
}
