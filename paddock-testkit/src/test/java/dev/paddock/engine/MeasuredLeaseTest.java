/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.CacheBuilder;
import dev.paddock.CacheEvent;
import dev.paddock.engine.Fleet.Node;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long fill leases last. */
final class MeasuredLeaseTest {
  private final Fleet fleet = new Fleet();
  private int keys;

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private static CacheBuilder<String, String> measured(CacheBuilder<String, String> builder) {
    return builder.timeToLive(Duration.ofHours(1)).jitter(0).maxLoadTime(Duration.ofMinutes(1));
  }

  private void load(Node node, int times, Duration takes) {
    fleet.source.takes = takes;
    for (int i = 0; i < times; i++) {
      node.get("k" + keys++);
      fleet.advance(takes.plusMillis(2));
    }
  }

  /** How long the next lease of a process is, as another one sees it right after the grant. */
  private Duration nextLease(Node holder, Node other) {
    fleet.source.takes = Duration.ofMillis(50);
    String key = "probe" + keys++;
    holder.get(key);
    fleet.env.run();
    int before = other.events(CacheEvent.LeaseContended.class).size();
    other.get(key);
    fleet.advance(Duration.ofMillis(100));
    List<CacheEvent.LeaseContended> told = other.events(CacheEvent.LeaseContended.class);
    assertThat(told).hasSize(before + 1);
    return told.get(before).left();
  }

  private Node node(String name, UnaryOperator<CacheBuilder<String, String>> more) {
    return fleet.node(name, builder -> more.apply(measured(builder)));
  }

  @Test
  void lease_isTenSecondsUntilTwentyLoadsWereMeasured_thenTwiceThe99thPercentile() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 18, Duration.ofMillis(800));
    assertThat(nextLease(a, b)).isEqualTo(Duration.ofSeconds(10));
    load(a, 1, Duration.ofMillis(800));
    // Two digits of the histogram.
    assertThat(nextLease(a, b)).isBetween(Duration.ofMillis(1_600), Duration.ofMillis(1_632));
  }

  @Test
  void lease_staysWithinFloorAndCap() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 20, Duration.ofMillis(5));
    assertThat(nextLease(a, b)).isEqualTo(Duration.ofSeconds(1));
    Node capped = node("c", builder -> builder.leaseCap(Duration.ofSeconds(3)));
    load(capped, 20, Duration.ofSeconds(4));
    assertThat(nextLease(capped, b)).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void lease_followsTheSource_whenItSlowsDownAndWhenItRecovers() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 100, Duration.ofMillis(5));
    assertThat(nextLease(a, b)).isEqualTo(Duration.ofSeconds(1));
    load(a, 20, Duration.ofSeconds(5));
    assertThat(nextLease(a, b)).isBetween(Duration.ofSeconds(10), Duration.ofMillis(10_200));
    for (int minute = 0; minute < 13; minute++) {
      load(a, 20, Duration.ofMillis(5));
      fleet.advance(Duration.ofMinutes(1));
    }
    assertThat(nextLease(a, b)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void lease_keepsItsMeasureWhileNothingIsLoaded() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 20, Duration.ofSeconds(2));
    fleet.advance(Duration.ofHours(3));
    assertThat(nextLease(a, b)).isBetween(Duration.ofSeconds(4), Duration.ofMillis(4_100));
  }

  @Test
  void loadGivenUp_countsWithTheTimeItHad() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 19, Duration.ofMillis(5));
    load(a, 1, Duration.ofSeconds(90));
    assertThat(nextLease(a, b)).isBetween(Duration.ofSeconds(120), Duration.ofSeconds(122));
  }

  @Test
  void fixedLease_isNotMeasured() {
    Node a = node("a", builder -> builder.leaseTime(Duration.ofSeconds(7)));
    Node b = node("b", builder -> builder);
    load(a, 40, Duration.ofMillis(5));
    assertThat(nextLease(a, b)).isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void loadsThatTakeWhatTheyAlwaysTake_needNoRenewal() {
    Node a = node("a", builder -> builder);
    load(a, 20, Duration.ofMillis(800));
    fleet.redis.resetCommandCounts();
    load(a, 10, Duration.ofMillis(800));
    assertThat(fleet.redis.commandCounts().get("EVALSHA")).isEqualTo(20L);
    assertThat(a.events(CacheEvent.LeaseRenewed.class)).isEmpty();
    assertThat(a.events(CacheEvent.LeaseTooShort.class)).isEmpty();
  }

  @Test
  void slowerLoad_isCoveredByRenewal() {
    Node a = node("a", builder -> builder);
    Node b = node("b", builder -> builder);
    load(a, 20, Duration.ofMillis(800));
    fleet.source.takes = Duration.ofSeconds(20);
    fleet.source.loads = 0;
    a.get("slow");
    fleet.advance(Duration.ofSeconds(15));
    b.watch(
        "slow",
        b.cache.getAsync(
            "slow", fleet.source.loader(), b.cache.options().maxWait(Duration.ofMinutes(1))));
    fleet.advance(Duration.ofSeconds(10));
    assertThat(fleet.source.loads).isEqualTo(1);
    assertThat(a.events(CacheEvent.LeaseLost.class)).isEmpty();
  }

  @Test
  void leasesThatNeedRenewalAllTheTime_areToldOnceInTenMinutes() {
    Node a = node("a", builder -> builder.leaseTime(Duration.ofSeconds(1)));
    load(a, 49, Duration.ofMillis(900));
    assertThat(a.events(CacheEvent.LeaseTooShort.class)).isEmpty();
    load(a, 200, Duration.ofMillis(900));
    assertThat(a.events(CacheEvent.LeaseTooShort.class))
        .singleElement()
        .satisfies(
            told -> {
              assertThat(told.leaseTime()).isEqualTo(Duration.ofSeconds(1));
              assertThat(told.part()).isEqualTo(1.0);
              assertThat(told.key()).isEqualTo("c:k49");
            });
    fleet.advance(Duration.ofMinutes(10));
    load(a, 50, Duration.ofMillis(900));
    assertThat(a.events(CacheEvent.LeaseTooShort.class)).hasSize(2);
  }
}
