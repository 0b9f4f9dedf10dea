/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseTimeoutException;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Methods under leases, in two applications on one server. */
final class LeasedIT {
  private static @Nullable RedisServerProcess server;

  static class Jobs {
    private final List<Long> tokens = new CopyOnWriteArrayList<>();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final CompletableFuture<String> promise = new CompletableFuture<>();

    public List<Long> tokens() {
      return tokens;
    }

    public CountDownLatch entered() {
      return entered;
    }

    public CountDownLatch gate() {
      return gate;
    }

    public CompletableFuture<String> promise() {
      return promise;
    }

    @Leased("report")
    public @Nullable String report() throws InterruptedException {
      tokens.add(CurrentLease.get().orElseThrow().fencingToken());
      entered.countDown();
      return gate.await(30, TimeUnit.SECONDS) ? "done" : "late";
    }

    @Leased(value = "region", key = "#region", whenHeld = Leased.WhenHeld.FAIL)
    public int perRegion(String region) throws InterruptedException {
      entered.countDown();
      return gate.await(30, TimeUnit.SECONDS) ? region.length() : -1;
    }

    @Leased(value = "${jobs.short}", atLeastFor = "1h")
    public @Nullable String brief() {
      return "ran";
    }

    @Leased("async")
    public CompletableFuture<String> async() {
      entered.countDown();
      return promise;
    }
  }

  private interface Body {
    void run(Jobs here, Jobs there, LeaseLock lock) throws Exception;
  }

  @BeforeAll
  static void startRedis() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stopRedis() {
    requireNonNull(server).close();
  }

  private static void twoApplications(Body body) {
    int port = requireNonNull(server).port();
    Contexts.runner(port)
        .withBean(Jobs.class)
        .withPropertyValues("jobs.short=brief")
        .run(
            here ->
                Contexts.runner(port)
                    .withBean(Jobs.class)
                    .withPropertyValues("jobs.short=brief")
                    .run(
                        there ->
                            body.run(
                                here.getBean(Jobs.class),
                                there.getBean(Jobs.class),
                                here.getBean(LeaseLock.class))));
  }

  private static CompletableFuture<@Nullable String> inBackground(Jobs jobs) throws Exception {
    CompletableFuture<@Nullable String> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(jobs.report());
              } catch (InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    assertThat(jobs.entered().await(30, TimeUnit.SECONDS)).isTrue();
    return result;
  }

  @Test
  void method_thatRunsElsewhere_isSkippedAndLaterRunsWithALargerToken() {
    twoApplications(
        (here, there, lock) -> {
          CompletableFuture<@Nullable String> running = inBackground(here);
          assertThat(there.report()).isNull();
          assertThat(there.tokens()).isEmpty();
          here.gate().countDown();
          assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
          there.gate().countDown();
          assertThat(there.report()).isEqualTo("done");
          assertThat(there.tokens().get(0)).isGreaterThan(here.tokens().get(0));
          assertThat(CurrentLease.get()).isEmpty();
        });
  }

  @Test
  void key_ofTheArguments_isPartOfTheName() {
    twoApplications(
        (here, there, lock) -> {
          try (var held = lock.tryAcquire("region:eu", LeaseOptions.defaults()).orElseThrow()) {
            here.gate().countDown();
            assertThat(held.isValid()).isTrue();
            assertThat(here.perRegion("asia")).isEqualTo(4);
            assertThatThrownBy(() -> here.perRegion("eu"))
                .isInstanceOf(LeaseTimeoutException.class)
                .hasMessageContaining("region:eu");
          }
          assertThat(here.perRegion("eu")).isEqualTo(2);
        });
  }

  @Test
  void shortMethod_keptAtLeastForAWhile_doesNotRunAgainAtOnce() {
    twoApplications(
        (here, there, lock) -> {
          assertThat(here.brief()).isEqualTo("ran");
          assertThat(here.brief()).isNull();
          assertThat(there.brief()).isNull();
        });
  }

  @Test
  void future_underALease_keepsItUntilItHasCompleted() {
    twoApplications(
        (here, there, lock) -> {
          CompletableFuture<String> running = here.async();
          assertThat(here.entered().await(30, TimeUnit.SECONDS)).isTrue();
          assertThat(there.async().get(30, TimeUnit.SECONDS)).isNull();
          assertThat(running.isDone()).isFalse();
          here.promise().complete("done");
          assertThat(running.get(30, TimeUnit.SECONDS)).isEqualTo("done");
          there.promise().complete("again");
          await()
              .atMost(Duration.ofSeconds(30))
              .untilAsserted(
                  () -> assertThat(there.async().get(30, TimeUnit.SECONDS)).isEqualTo("again"));
        });
  }
}
