/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.CacheEvent;
import dev.paddock.LeaseEvent;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class PaddockMetricsTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @AfterEach
  void close() {
    registry.close();
  }

  /** All but the buckets, which this registry shows as gauges of their own. */
  private List<Meter> meters() {
    return registry.getMeters().stream()
        .filter(meter -> !meter.getId().getName().endsWith(".histogram"))
        .toList();
  }

  private double count(String name, String... tags) {
    return registry.get(name).tags(tags).counter().count();
  }

  private Timer timer(String name, String... tags) {
    return registry.get(name).tags(tags).timer();
  }

  /** The figures of all meters that an event changes, by name and tags, gauges apart. */
  private Map<String, Double> changedBy(Runnable sending) {
    Map<String, Double> before = figures();
    sending.run();
    Map<String, Double> changed = new TreeMap<>();
    figures()
        .forEach(
            (id, figure) -> {
              double change = figure - before.getOrDefault(id, 0.0);
              if (change != 0) {
                changed.put(id, change);
              }
            });
    return changed;
  }

  private Map<String, Double> figures() {
    Map<String, Double> all = new TreeMap<>();
    for (Meter meter : meters()) {
      StringBuilder id = new StringBuilder(meter.getId().getName());
      for (Tag tag : meter.getId().getTags()) {
        if (!Set.of("cache", "cache.manager", "name").contains(tag.getKey())) {
          id.append(' ').append(tag.getKey()).append('=').append(tag.getValue());
        }
      }
      all.put(id.toString(), meter.measure().iterator().next().getValue());
    }
    return all;
  }

  private Map<String, Double> changedBy(PaddockMetrics metrics, CacheEvent event) {
    return changedBy(() -> metrics.onEvent(event));
  }

  private Map<String, Double> changedBy(PaddockMetrics metrics, LeaseEvent event) {
    return changedBy(() -> metrics.onEvent(event));
  }

  @Test
  void eachCacheEvent_changesItsMeters_andNoOther() {
    PaddockMetrics metrics = PaddockMetrics.newBuilder(registry).caches(List.of("posts")).build();
    List<String> seen = new ArrayList<>();
    for (CacheEvent event : EverySample.ofCache("posts")) {
      seen.add(event.getClass().getSimpleName() + " " + changedBy(metrics, event).keySet());
    }
    assertThat(seen)
        .containsExactly(
            "Hit [cache.gets result=hit, paddock.read result=hit]",
            "Hit [cache.gets result=hit, paddock.read result=negative]",
            "NearHit [cache.gets result=hit, paddock.read result=near]",
            "Miss [cache.gets result=miss, paddock.read result=miss]",
            "StaleServed [cache.gets result=hit, paddock.read result=stale, paddock.stale.age]",
            "Unreadable [paddock.unreadable]",
            "Outdated [paddock.outdated]",
            "LeaseGranted [paddock.fill.lease outcome=granted]",
            "LeaseGranted [paddock.fill.lease outcome=granted_again]",
            "LeaseGranted [paddock.fill.lease outcome=degraded]",
            "LeaseContended [paddock.fill.lease outcome=contended]",
            "LeaseRenewed [paddock.fill.lease.renewed]",
            "LeaseLost [paddock.fill.lease.lost reason=ran_out]",
            "LeaseLost [paddock.fill.lease.lost reason=taken]",
            "LeaseLost [paddock.fill.lease.lost reason=invalidated]",
            "LeaseEnded [paddock.fill.lease.held, paddock.fill.lease.margin, paddock.fill.lease.use]",
            "LeaseEnded [paddock.fill.lease.held, paddock.fill.lease.margin, paddock.fill.lease.use]",
            "LeaseTooShort [paddock.fill.lease.too.short]",
            "RefreshTooEarly [paddock.refresh.too.early]",
            "LoadStarted [paddock.load.active, paddock.load.started leased=true]",
            "LoadEnded [paddock.load end=loaded, paddock.load.active]",
            "LoadStarted [paddock.load.active, paddock.load.started leased=true]",
            "LoadEnded [paddock.load end=absent, paddock.load.active]",
            "LoadStarted [paddock.load.active, paddock.load.started leased=false]",
            "LoadEnded [paddock.load end=failed, paddock.load.active]",
            "LoadStarted [paddock.load.active, paddock.load.started leased=true]",
            "LoadEnded [paddock.load end=interrupted, paddock.load.active]",
            "LoadStarted [paddock.load.active, paddock.load.started leased=true]",
            "LoadEnded [paddock.load end=abandoned, paddock.load.active]",
            "FillEnded [cache.puts, paddock.fill outcome=stored]",
            "FillEnded [cache.puts, paddock.fill outcome=stored_late, paddock.load.duplicate"
                + " reason=late]",
            "FillEnded [paddock.fill outcome=superseded, paddock.load.duplicate reason=superseded]",
            "FillEnded [paddock.fill outcome=invalidated]",
            "FillEnded [paddock.fill outcome=refused]",
            "FillEnded [paddock.fill outcome=unknown]",
            "WaitEnded [paddock.wait end=answered]",
            "WaitEnded [paddock.wait end=failed]",
            "WaitEnded [paddock.wait end=timed_out]",
            "WaitEnded [paddock.wait end=cancelled]",
            "Degraded [paddock.degraded how=failed]",
            "Degraded [paddock.degraded how=fallback]",
            "Degraded [paddock.degraded how=load]",
            "Degraded [paddock.degraded how=stale]",
            "LoadRefused [paddock.load.refused]",
            "OutageServed [cache.gets result=hit, paddock.read result=outage]",
            "BreakerChanged [paddock.breaker.open, paddock.breaker.opened]",
            "NotStored [paddock.not.stored]",
            "Invalidated [cache.removals, paddock.invalidation kind=hard]",
            "Invalidated [paddock.invalidation kind=soft]",
            "TagInvalidated [paddock.invalidation kind=tag]",
            "TagInvalidated [paddock.invalidation kind=all]",
            "StoreFailed [paddock.store.failed operation=get outcome=failed]",
            "StoreFailed [paddock.store.failed operation=fill outcome=unknown]",
            "StoreFailed [paddock.store.failed operation=other outcome=failed]");
  }

  @Test
  void eachLeaseEvent_changesItsMeters_andNoOther() {
    PaddockMetrics metrics = PaddockMetrics.of(registry);
    metrics.onEvent(new LeaseEvent.Extended("warm", 1));
    List<String> seen = new ArrayList<>();
    for (LeaseEvent event : EverySample.ofLease(EverySample.LEASE)) {
      seen.add(event.getClass().getSimpleName() + " " + changedBy(metrics, event).keySet());
    }
    assertThat(seen)
        .containsExactly(
            "Acquired [paddock.lease.active, paddock.lease.wait outcome=acquired]",
            "Refused [paddock.lease.wait outcome=refused]",
            "Extended [paddock.lease.extended]",
            "Lost [paddock.lease.lost reason=ran_out]",
            "Lost [paddock.lease.lost reason=held_too_long]",
            "Lost [paddock.lease.lost reason=taken]",
            "Lost [paddock.lease.lost reason=closed]",
            "Acquired [paddock.lease.active, paddock.lease.wait outcome=acquired]",
            "Ended [paddock.lease.active, paddock.lease.held outcome=released, paddock.lease.margin]",
            "Acquired [paddock.lease.active, paddock.lease.wait outcome=acquired]",
            "Ended [paddock.lease.active, paddock.lease.held outcome=expired, paddock.lease.margin]",
            "Acquired [paddock.lease.active, paddock.lease.wait outcome=acquired]",
            "Ended [paddock.lease.active, paddock.lease.held outcome=lost, paddock.lease.margin]",
            "Acquired [paddock.lease.active, paddock.lease.wait outcome=acquired]",
            "Ended [paddock.lease.active, paddock.lease.held outcome=unknown, paddock.lease.margin]",
            "StoreFailed [paddock.lease.store.failed operation=acquire outcome=unknown]",
            "StoreFailed [paddock.lease.store.failed operation=other outcome=failed]",
            "CleanedUp [paddock.lease.cleaned.up outcome=released]",
            "CleanedUp [paddock.lease.cleaned.up outcome=nothing]",
            "CleanedUp [paddock.lease.cleaned.up outcome=unknown]");
  }

  @Test
  void samples_areOfEveryKindOfEvent() {
    Set<Class<?>> kinds = new HashSet<>();
    EverySample.ofCache("c").forEach(event -> kinds.add(event.getClass()));
    EverySample.ofLease("l").forEach(event -> kinds.add(event.getClass()));
    Set<Class<?>> wanted = new HashSet<>();
    wanted.addAll(Arrays.asList(CacheEvent.class.getPermittedSubclasses()));
    wanted.addAll(Arrays.asList(LeaseEvent.class.getPermittedSubclasses()));
    assertThat(kinds).isEqualTo(wanted);
  }

  @Test
  void times_areThoseOfTheEvents_andAMarginBelowZeroIsZero() {
    EverySample.sendTo(PaddockMetrics.of(registry));
    assertThat(timer("paddock.load", "end", "loaded").totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo(40);
    assertThat(timer("paddock.wait", "end", "timed_out").totalTime(TimeUnit.MILLISECONDS))
        .isEqualTo(40);
    assertThat(timer("paddock.stale.age").totalTime(TimeUnit.MILLISECONDS)).isEqualTo(40);
    assertThat(timer("paddock.fill.lease.held").totalTime(TimeUnit.MILLISECONDS)).isEqualTo(120);
    assertThat(timer("paddock.fill.lease.margin").totalTime(TimeUnit.MILLISECONDS)).isEqualTo(120);
    assertThat(timer("paddock.fill.lease.margin").count()).isEqualTo(2);
    assertThat(registry.get("paddock.fill.lease.use").summary().max()).isEqualTo(2);
    assertThat(registry.get("paddock.fill.lease.use").summary().totalAmount()).isEqualTo(2.25);
    assertThat(timer("paddock.lease.margin").totalTime(TimeUnit.MILLISECONDS)).isZero();
    assertThat(timer("paddock.lease.margin").count()).isEqualTo(4);
  }

  @Test
  void gauges_followWhatBeginsAndEnds() {
    PaddockMetrics metrics = PaddockMetrics.of(registry);
    metrics.onEvent(new CacheEvent.LoadStarted("c", "k", true));
    metrics.onEvent(new CacheEvent.LoadStarted("c", "l", true));
    assertThat(registry.get("paddock.load.active").tag("cache", "c").gauge().value()).isEqualTo(2);
    metrics.onEvent(
        new CacheEvent.LoadEnded("c", "k", EverySample.TIME, CacheEvent.LoadEnd.FAILED));
    assertThat(registry.get("paddock.load.active").tag("cache", "c").gauge().value()).isEqualTo(1);
    metrics.onEvent(new CacheEvent.BreakerChanged("c", "k", true));
    metrics.onEvent(new CacheEvent.BreakerChanged("d", "l", true));
    metrics.onEvent(new CacheEvent.BreakerChanged("d", "l", false));
    assertThat(registry.get("paddock.breaker.open").gauge().value()).isEqualTo(1);
    assertThat(count("paddock.breaker.opened")).isEqualTo(2);
  }

  @Test
  void tags_neverContainAKeyOrTheNameOfALease() {
    EverySample.sendTo(PaddockMetrics.of(registry));
    for (Meter meter : meters()) {
      for (Tag tag : meter.getId().getTags()) {
        assertThat(tag.getValue())
            .as("%s", meter.getId())
            .matches("[a-z_]+")
            .doesNotContain("secret", "order");
      }
    }
  }

  @Test
  void springsMeters_haveTheTagsOfSpringBoot() {
    EverySample.sendTo(PaddockMetrics.newBuilder(registry).cacheManager("cacheManager").build());
    assertThat(
            registry
                .get("cache.gets")
                .tags(
                    "cache",
                    "posts",
                    "name",
                    "posts",
                    "cache.manager",
                    "cacheManager",
                    "result",
                    "hit")
                .counter()
                .count())
        .isEqualTo(5);
    Set<String> keys = new TreeSet<>();
    registry.get("cache.gets").counters().iterator().next().getId().getTags().stream()
        .map(Tag::getKey)
        .forEach(keys::add);
    assertThat(keys).containsExactly("cache", "cache.manager", "name", "result");
  }

  @Test
  void springsMeters_turnedOff_areNotThere() {
    EverySample.sendTo(PaddockMetrics.newBuilder(registry).springNames(false).build());
    assertThat(registry.getMeters())
        .extracting(meter -> meter.getId().getName())
        .allMatch(name -> name.startsWith("paddock."));
    assertThatThrownBy(
            () -> PaddockMetrics.newBuilder(registry).springNames(false).cacheManager("m").build())
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void events_afterTheFirst_registerNothing() {
    PaddockMetrics metrics = PaddockMetrics.newBuilder(registry).caches(List.of("posts")).build();
    metrics.onEvent(new LeaseEvent.Extended("x", 1));
    int registered = registry.getMeters().size();
    EverySample.sendTo(metrics);
    assertThat(registry.getMeters()).hasSize(registered);
  }

  @Test
  void leaseTag_groupsLeases_upToItsLimit() {
    PaddockMetrics metrics =
        PaddockMetrics.newBuilder(registry)
            .leaseTag(name -> name.substring(0, name.indexOf(':')))
            .build();
    metrics.onEvent(new LeaseEvent.Extended("order:1", 1));
    metrics.onEvent(new LeaseEvent.Extended("order:2", 1));
    metrics.onEvent(new LeaseEvent.Extended(":3", 1));
    assertThat(count("paddock.lease.extended", "lease", "order")).isEqualTo(2);
    assertThat(count("paddock.lease.extended", "lease", "other")).isEqualTo(1);
    for (int i = 0; i < 1_000; i++) {
      metrics.onEvent(new LeaseEvent.Extended("n" + i + ":x", 1));
    }
    Set<String> values = new HashSet<>();
    registry.get("paddock.lease.extended").counters().stream()
        .map(counter -> counter.getId().getTag("lease"))
        .forEach(values::add);
    assertThat(values).hasSize(PaddockMetrics.LEASE_TAGS_MAX);
    assertThat(count("paddock.lease.extended", "lease", "other")).isEqualTo(1 + 902);
  }

  @Test
  void tags_ofTheBuilder_areOnAllMeters() {
    EverySample.sendTo(PaddockMetrics.newBuilder(registry).tags(Tags.of("store", "main")).build());
    assertThat(registry.getMeters())
        .allSatisfy(meter -> assertThat(meter.getId().getTag("store")).isEqualTo("main"));
  }

  @Test
  void settings_setTwice_areRefused() {
    PaddockMetrics.Builder builder =
        PaddockMetrics.newBuilder(registry).cacheManager("a").leaseTag(name -> "x");
    assertThatThrownBy(() -> builder.cacheManager("b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("a");
    assertThatThrownBy(() -> builder.leaseTag(name -> "y"))
        .isInstanceOf(IllegalStateException.class);
  }
}
