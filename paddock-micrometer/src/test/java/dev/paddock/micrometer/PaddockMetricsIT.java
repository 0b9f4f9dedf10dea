/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two processes' worth of caches on a real server, and what their meters say. */
@Timeout(180)
final class PaddockMetricsIT {
  private final RedisServerProcess server = RedisServerProcess.start();
  private final SimpleMeterRegistry here = new SimpleMeterRegistry();
  private final SimpleMeterRegistry there = new SimpleMeterRegistry();
  private Paddock first;
  private Paddock second;

  @BeforeEach
  void connect() {
    first = open(here);
    second = open(there);
  }

  private Paddock open(SimpleMeterRegistry registry) {
    return Paddock.newBuilder()
        .store(server.uri())
        .commandTimeout(Duration.ofSeconds(20))
        .listener(PaddockMetrics.of(registry))
        .closeOnShutdown(false)
        .build();
  }

  @AfterEach
  void close() {
    first.close();
    second.close();
    server.close();
    here.close();
    there.close();
  }

  private static Cache<String, String> posts(Paddock paddock) {
    return paddock
        .cache("posts", Codecs.string())
        .timeToLive(Duration.ofMinutes(10))
        .serveStaleFor(Duration.ofMinutes(10))
        .leaseTime(Duration.ofSeconds(60))
        .maxWait(Duration.ofSeconds(60))
        .build();
  }

  private static double count(SimpleMeterRegistry registry, String name, String... tags) {
    return registry.get(name).tags(tags).counter().count();
  }

  private static double gauge(SimpleMeterRegistry registry, String name) {
    Gauge gauge = registry.find(name).gauge();
    return gauge == null ? Double.NaN : gauge.value();
  }

  private static void await(Runnable assertion) {
    Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(assertion::run);
  }

  @Test
  void fleet_thatLoadsWaitsAndServesStale_isSeenInItsMeters() throws Exception {
    Cache<String, String> mine = posts(first);
    Cache<String, String> theirs = posts(second);
    CountDownLatch go = new CountDownLatch(1);
    CompletableFuture<String> loading =
        CompletableFuture.supplyAsync(
            () ->
                mine.get(
                    "k",
                    key -> {
                      go.await();
                      return "v";
                    }));
    await(() -> assertThat(gauge(here, "paddock.load.active")).isEqualTo(1));
    CompletableFuture<String> waiting = theirs.getAsync("k", key -> "never");
    await(
        () -> assertThat(count(there, "paddock.fill.lease", "outcome", "contended")).isEqualTo(1));
    go.countDown();
    assertThat(loading.get(60, TimeUnit.SECONDS)).isEqualTo("v");
    assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo("v");

    assertThat(count(here, "paddock.read", "result", "miss")).isEqualTo(1);
    assertThat(count(here, "paddock.fill.lease", "outcome", "granted")).isEqualTo(1);
    assertThat(count(here, "paddock.fill", "outcome", "stored")).isEqualTo(1);
    assertThat(count(here, "cache.puts", "cache", "posts")).isEqualTo(1);
    assertThat(here.get("paddock.load").tag("end", "loaded").timer().count()).isEqualTo(1);
    assertThat(here.get("paddock.fill.lease.held").timer().count()).isEqualTo(1);
    assertThat(here.get("paddock.fill.lease.margin").timer().max(TimeUnit.MILLISECONDS))
        .isPositive();
    assertThat(gauge(here, "paddock.load.active")).isZero();
    await(
        () ->
            assertThat(there.get("paddock.wait").tag("end", "answered").timer().count())
                .isEqualTo(1));
    assertThat(there.get("paddock.load").tag("end", "loaded").timer().count()).isZero();

    mine.expire("k");
    assertThat(theirs.get("k", key -> "v2")).isEqualTo("v");
    assertThat(count(there, "paddock.read", "result", "stale")).isEqualTo(1);
    assertThat(there.get("paddock.stale.age").timer().count()).isEqualTo(1);
    await(() -> assertThat(count(there, "paddock.fill", "outcome", "stored")).isEqualTo(1));
    assertThat(mine.get("k", key -> "never")).isEqualTo("v2");
    assertThat(count(here, "paddock.read", "result", "hit")).isEqualTo(1);
    assertThat(count(here, "cache.gets", "result", "hit")).isEqualTo(1);
  }

  @Test
  void invalidationDuringALoad_isSeenAsALostLeaseAndAnInvalidatedFill() {
    Cache<String, String> mine =
        first
            .cache("short", Codecs.string())
            .timeToLive(Duration.ofMinutes(10))
            .leaseTime(Duration.ofSeconds(1))
            .build();
    Cache<String, String> theirs =
        second.cache("short", Codecs.string()).timeToLive(Duration.ofMinutes(10)).build();
    String value =
        mine.get(
            "k",
            (key, context) -> {
              theirs.invalidate("k");
              // The next renewal is told.
              await(() -> assertThat(context.isLeaseLost()).isTrue());
              return "old";
            },
            mine.options());
    assertThat(value).isEqualTo("old");
    assertThat(count(here, "paddock.fill", "outcome", "invalidated")).isEqualTo(1);
    assertThat(count(there, "paddock.invalidation", "kind", "hard")).isEqualTo(1);
    await(
        () ->
            assertThat(
                    here.get("paddock.fill.lease.lost").counters().stream()
                        .mapToDouble(each -> each.count())
                        .sum())
                .isEqualTo(1));
    assertThat(here.get("paddock.fill.lease.margin").timer().count()).isEqualTo(1);
  }

  @Test
  void lease_whoseKeyIsTaken_isSeenAsLost() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (LeaseLock lock =
        LeaseLock.newBuilder()
            .store(server.uri())
            .listener(
                PaddockMetrics.newBuilder(registry)
                    .leaseTag(name -> name.substring(0, name.indexOf(':')))
                    .build())
            .build()) {
      Lease lease =
          lock.tryAcquire(
                  "job:1",
                  LeaseOptions.defaults()
                      .leaseTime(Duration.ofSeconds(2))
                      .renewFor(Duration.ofMinutes(2)))
              .orElseThrow();
      await(() -> assertThat(gauge(registry, "paddock.lease.active")).isEqualTo(1));
      server.console().command("FLUSHALL");
      await(
          () ->
              assertThat(count(registry, "paddock.lease.lost", "reason", "taken", "lease", "job"))
                  .isEqualTo(1));
      lease.close();
      await(
          () ->
              assertThat(registry.get("paddock.lease.held").tag("outcome", "lost").timer().count())
                  .isEqualTo(1));
      await(() -> assertThat(gauge(registry, "paddock.lease.active")).isZero());
      assertThat(registry.get("paddock.lease.wait").tag("outcome", "acquired").timer().count())
          .isEqualTo(1);
    } finally {
      registry.close();
    }
  }
}
