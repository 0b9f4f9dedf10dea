/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.paddock.AsyncLoader;
import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.Paddock;
import dev.paddock.PaddockClosedException;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is left of a Paddock and a lock that are closed in the midst of everything: nothing. */
@Timeout(120)
final class ClosingIT {
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults().leaseTime(Duration.ofSeconds(20));

  private static RedisServerProcess server;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void close_inMidWork_leavesNoFutureThreadConnectionSubscriptionOrFillLease() throws Exception {
    Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
    Paddock loading = paddock();
    Paddock waiting = paddock();
    LeaseLock holding = lock();
    LeaseLock queueing = lock();
    CountDownLatch loads = new CountDownLatch(1);
    List<CompletableFuture<?>> futures;
    Lease lease;
    try {
      CompletableFuture<String> endless = new CompletableFuture<>();
      CompletableFuture<String> first =
          cache(loading)
              .getAsync(
                  "k",
                  (AsyncLoader<String, String>)
                      (key, context) -> {
                        loads.countDown();
                        return endless;
                      });
      assertThat(loads.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<String> second =
          cache(waiting).getAsync("k", (AsyncLoader<String, String>) (key, context) -> endless);
      lease = holding.tryAcquire("job", OPTIONS.renewFor(Duration.ofMinutes(5))).orElseThrow();
      CompletableFuture<Optional<Lease>> third =
          queueing.tryAcquireAsync("job", OPTIONS.waitTime(Duration.ofMinutes(5)));
      futures = List.of(first, second, third);
      until("both wait for a hint", () -> channels() == 2);
      assertThat(futures).noneMatch(CompletableFuture::isDone);
    } finally {
      waiting.close();
      loading.close();
      queueing.close();
      holding.close();
    }
    for (CompletableFuture<?> each : futures) {
      assertThat(catchThrowable(() -> each.get(60, TimeUnit.SECONDS)))
          .hasCauseInstanceOf(PaddockClosedException.class);
    }
    assertThat(lease.isValid()).isFalse();
    until("no channel", () -> channels() == 0);
    until("no connection", () -> clients() == 0);
    until("no thread", () -> ours(before).isEmpty());
    // The lease of a lock runs out by itself, since its work may still run; beside it its counter.
    // The fill lease is nobody's: its record only keeps the epoch for a while.
    server
        .console()
        .snapshot()
        .forEach(
            (key, state) -> {
              if (!key.toString().startsWith("pdk:lease:")) {
                assertThat(state.string()).as(key.toString()).startsWith("-".repeat(32));
                assertThat(state.ttlMillis()).as(key.toString()).isPositive();
              }
            });
  }

  private static Paddock paddock() {
    return Paddock.newBuilder().store(server.uri()).commandTimeout(Duration.ofSeconds(30)).build();
  }

  private static Cache<String, String> cache(Paddock paddock) {
    return paddock
        .<String, String>cache("c", Codecs.string())
        .maxWait(Duration.ofMinutes(5))
        .maxLoadTime(Duration.ofMinutes(5))
        .build();
  }

  private static LeaseLock lock() {
    return LeaseLock.newBuilder()
        .store(server.uri())
        .commandTimeout(Duration.ofSeconds(10))
        .build();
  }

  private static long channels() {
    return ((List<?>) requireNonNull(server.console().command("PUBSUB", "CHANNELS"))).size();
  }

  private static long clients() {
    return server
        .console()
        .text("CLIENT", "LIST")
        .lines()
        .filter(line -> !line.contains("cmd=client"))
        .count();
  }

  /** Threads of ours, and those of the client library, that were not there before. */
  private static Set<String> ours(Set<Thread> before) {
    Set<String> names = new HashSet<>();
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      String name = thread.getName();
      if (thread.isAlive()
          && !before.contains(thread)
          && (name.startsWith("paddock-") || name.startsWith("lettuce-"))) {
        names.add(name);
      }
    }
    return names;
  }

  private static void until(String what, Callable<Boolean> holds) {
    Awaitility.await(what).atMost(Duration.ofSeconds(60)).until(holds);
  }
}
