/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheEvent;
import dev.paddock.CacheEvent.LoadEnd;
import dev.paddock.engine.Fleet.Node;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Events that come in pairs, so that what is under way can be counted. */
final class EventPairsTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void lease_ofAStoredFill_endsOnceWithItsTimes() {
    Node a = fleet.node("a", Fleet::usual);
    a.get("k");
    fleet.advance(Duration.ofSeconds(1));
    assertThat(a.events(CacheEvent.LeaseEnded.class))
        .singleElement()
        .satisfies(
            ended -> {
              assertThat(ended.leaseTime()).isEqualTo(Duration.ofSeconds(1));
              assertThat(ended.held()).isBetween(Fleet.LOAD, Fleet.LOAD.plusMillis(20));
              assertThat(ended.margin()).isEqualTo(ended.leaseTime().minus(ended.held()));
            });
  }

  @Test
  void lease_thatRanOutInMidLoad_endsWithoutMargin() {
    Node a = fleet.node("a", s -> Fleet.usual(s).renewal(false));
    fleet.source.takes = Duration.ofMillis(2_500);
    a.get("k");
    fleet.advance(Duration.ofSeconds(10));
    assertThat(a.events(CacheEvent.LeaseEnded.class))
        .singleElement()
        .satisfies(
            ended -> {
              assertThat(ended.held()).isGreaterThanOrEqualTo(Duration.ofMillis(2_500));
              assertThat(ended.margin()).isNegative();
            });
  }

  @Test
  void lease_takenAwayByAnInvalidation_endsWithoutMargin() {
    Node a = fleet.node("a", Fleet::usual);
    Node b = fleet.node("b", Fleet::usual);
    fleet.source.takes = Duration.ofMillis(900);
    a.get("k");
    fleet.advance(Duration.ofMillis(50));
    b.invalidate("k");
    fleet.advance(Duration.ofSeconds(10));
    assertThat(a.events(CacheEvent.LeaseLost.class)).hasSize(1);
    assertThat(a.events(CacheEvent.LeaseEnded.class).get(0).margin())
        .isLessThanOrEqualTo(Duration.ZERO);
  }

  @Test
  void load_leftBehindByTheClosing_endsAsAbandoned() {
    Node a = fleet.node("a", Fleet::usual);
    a.get("k");
    fleet.advance(Duration.ofMillis(50));
    a.close();
    fleet.advance(Duration.ofSeconds(1));
    assertThat(a.events(CacheEvent.LoadStarted.class)).hasSize(1);
    assertThat(a.events(CacheEvent.LoadEnded.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.end()).isEqualTo(LoadEnd.ABANDONED));
    assertThat(a.events(CacheEvent.LeaseEnded.class)).hasSize(1);
  }

  @Test
  void load_longerThanMaxLoadTime_endsOnce() {
    Node a = fleet.node("a", s -> Fleet.usual(s).maxLoadTime(Duration.ofSeconds(2)));
    fleet.source.takes = Duration.ofSeconds(5);
    a.get("k");
    fleet.advance(Duration.ofSeconds(10));
    assertThat(a.events(CacheEvent.LoadEnded.class))
        .extracting(CacheEvent.LoadEnded::end)
        .containsExactly(LoadEnd.ABANDONED);
  }
}
