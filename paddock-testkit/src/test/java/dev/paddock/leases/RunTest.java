/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.LeaseRun;
import dev.paddock.LeaseTimeoutException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisLeaseStore;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RequestFate;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work under a lease, and calls that block: on real time, with the model of Redis. */
@Timeout(60)
final class RunTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final LeaseOptions OPTIONS = LeaseOptions.defaults().leaseTime(LONG);

  private final RealTimeEnvironment serverEnvironment = RealTimeEnvironment.create();
  private final InMemoryRedis redis = new InMemoryRedis(serverEnvironment);
  private final LeaseLock a = lock("a");
  private final LeaseLock b = lock("b");

  private LeaseLock lock(String client) {
    return LeaseLock.newBuilder()
        .store(
            (environment, options) ->
                RedisLeaseStore.open(
                    redis.connect(client, environment),
                    environment,
                    new StoreOptions(Duration.ofSeconds(30), Duration.ofSeconds(30))))
        .commandTimeout(Duration.ofSeconds(30))
        .build();
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    redis.close();
    serverEnvironment.close();
  }

  private void assertFree(String name) {
    try (Lease lease = b.tryAcquire(name, OPTIONS).orElseThrow()) {
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void runIfAcquired_free_runsOnTheCallersThreadAndReleases() throws Exception {
    Thread[] ran = new Thread[1];
    LeaseRun<Void> run =
        a.runIfAcquired(
            "job",
            OPTIONS,
            lease -> {
              ran[0] = Thread.currentThread();
              assertThat(b.tryAcquire("job", OPTIONS)).isEmpty();
            });

    assertThat(run).isEqualTo(new LeaseRun<Void>(true, null, LeaseOutcome.RELEASED));
    assertThat(ran[0]).isSameAs(Thread.currentThread());
    assertFree("job");
  }

  @Test
  void runIfAcquired_heldByAnother_skips() {
    try (Lease held = b.tryAcquire("job", OPTIONS).orElseThrow()) {
      LeaseRun<Void> run =
          a.runIfAcquired(
              "job",
              OPTIONS,
              lease -> {
                throw new AssertionError("must not run beside " + held);
              });
      assertThat(run.ran()).isFalse();
      assertThat(run.outcome()).isNull();
    }
  }

  @Test
  void callIfAcquired_withResult_returnsIt() {
    assertThat(
            a.<Long, RuntimeException>callIfAcquired("job", OPTIONS, Lease::fencingToken).value())
        .isPositive();
  }

  @Test
  void runExclusively_heldForTheWholeWaitTime_saysHowLong() {
    try (Lease held = b.tryAcquire("job", OPTIONS).orElseThrow()) {
      assertThatThrownBy(
              () ->
                  a.runExclusively(
                      "job",
                      OPTIONS.waitTime(Duration.ofMillis(50)),
                      lease -> {
                        throw new AssertionError("must not run beside " + held);
                      }))
          .isInstanceOfSatisfying(
              LeaseTimeoutException.class,
              e -> assertThat(e.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(50)))
          .hasMessageContaining("job")
          .hasMessageContaining("waitTime");
    }
  }

  @Test
  void runExclusively_releasedMeanwhile_runs() throws Exception {
    Lease held = b.tryAcquire("job", OPTIONS).orElseThrow();
    CompletableFuture<LeaseRun<Void>> result = new CompletableFuture<>();
    Thread waiter =
        new Thread(
            () -> result.complete(a.runExclusively("job", OPTIONS.waitTime(LONG), lease -> {})));
    waiter.start();
    while (waiter.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    held.close();

    assertThat(result.get().outcome()).isEqualTo(LeaseOutcome.RELEASED);
  }

  @Test
  void work_thatThrows_isThrownAsItIsAndTheLeaseIsFree() {
    IOException disk = new IOException("disk");
    assertThatThrownBy(
            () ->
                a.runIfAcquired(
                    "job",
                    OPTIONS,
                    lease -> {
                      throw disk;
                    }))
        .isSameAs(disk);
    assertFree("job");
  }

  @Test
  void work_thatThrowsAnError_freesTheLeaseToo() {
    assertThatThrownBy(
            () ->
                a.runIfAcquired(
                    "job",
                    OPTIONS,
                    lease -> {
                      throw new StackOverflowError();
                    }))
        .isInstanceOf(StackOverflowError.class);
    assertFree("job");
  }

  @Test
  void work_thatThrowsWhileTheReleaseFails_throwsWhatTheWorkThrew() {
    IOException disk = new IOException("disk");
    assertThatThrownBy(
            () ->
                a.runIfAcquired(
                    "job",
                    OPTIONS,
                    lease -> {
                      redis.setInterceptor(request -> RequestFate.NOT_SENT);
                      throw disk;
                    }))
        .isSameAs(disk)
        .hasNoSuppressedExceptions();
    redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void lostLease_isAnOutcomeAndNoException() throws Exception {
    LeaseRun<String> run =
        a.callIfAcquired(
            "job",
            OPTIONS,
            lease -> {
              redis.flushAll();
              return "done";
            });

    assertThat(run).isEqualTo(new LeaseRun<>(true, "done", LeaseOutcome.LOST));
  }

  @Test
  void interruptOnLoss_interruptsTheWorkAndNothingAfterIt() {
    LeaseOptions renewed =
        LeaseOptions.defaults().leaseTime(Duration.ofSeconds(1)).renewFor(LONG).interruptOnLoss();
    assertThatThrownBy(
            () ->
                a.runIfAcquired(
                    "job",
                    renewed,
                    lease -> {
                      redis.flushAll();
                      TimeUnit.MINUTES.sleep(10);
                    }))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void interruptOnLoss_workThatIgnoresIt_endsWithoutTheFlag() throws Exception {
    LeaseOptions renewed =
        LeaseOptions.defaults().leaseTime(Duration.ofSeconds(1)).renewFor(LONG).interruptOnLoss();
    LeaseRun<Void> run =
        a.runIfAcquired(
            "job",
            renewed,
            lease -> {
              redis.flushAll();
              while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
              }
            });

    assertThat(run.outcome()).isEqualTo(LeaseOutcome.LOST);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void withoutInterruptOnLoss_theWorkGoesOn() throws Exception {
    CountDownLatch lost = new CountDownLatch(1);
    LeaseOptions renewed =
        LeaseOptions.defaults()
            .leaseTime(Duration.ofSeconds(1))
            .renewFor(LONG)
            .onLost(lease -> lost.countDown());
    LeaseRun<Void> run =
        a.runIfAcquired(
            "job",
            renewed,
            lease -> {
              redis.flushAll();
              lost.await();
              assertThat(lease.isValid()).isFalse();
            });

    assertThat(run.outcome()).isEqualTo(LeaseOutcome.LOST);
  }

  @Test
  void interruptedWaiter_keepsItsFlagAndHoldsNothing() throws Exception {
    Lease held = b.tryAcquire("job", OPTIONS).orElseThrow();
    CompletableFuture<Boolean> flag = new CompletableFuture<>();
    Thread waiter =
        new Thread(
            () -> {
              try {
                a.tryAcquire("job", OPTIONS.waitTime(LONG));
                flag.completeExceptionally(new AssertionError("acquired"));
              } catch (PaddockInterruptedException e) {
                flag.complete(Thread.currentThread().isInterrupted());
              }
            });
    waiter.start();
    while (waiter.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    waiter.interrupt();

    assertThat(flag.get()).isTrue();
    held.close();
    assertFree("job");
  }

  @Test
  void release_ofAnInterruptedThread_isReleasedAndTheFlagKept() {
    Lease lease = a.tryAcquire("job", OPTIONS).orElseThrow();
    Thread.currentThread().interrupt();

    LeaseOutcome outcome = lease.release();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(outcome).isEqualTo(LeaseOutcome.RELEASED);
    assertFree("job");
  }

  @Test
  void tryAcquire_storeRefuses_throwsAFreshExceptionEachTime() {
    redis.setInterceptor(request -> RequestFate.NOT_SENT);
    assertThatThrownBy(() -> a.tryAcquire("job", OPTIONS))
        .isInstanceOf(StoreException.class)
        .hasStackTraceContaining("RunTest");
    redis.setInterceptor(request -> RequestFate.DELIVERED);
  }

  @Test
  void async_releasesWhenTheStageOfTheWorkCompletes() {
    CompletableFuture<String> work = new CompletableFuture<>();
    CompletableFuture<Lease> begun = new CompletableFuture<>();
    CompletableFuture<LeaseRun<String>> run =
        a.callIfAcquiredAsync(
            "job",
            OPTIONS,
            lease -> {
              begun.complete(lease);
              return work;
            });
    begun.join();
    assertThat(b.tryAcquire("job", OPTIONS)).isEmpty();
    assertThat(run).isNotDone();
    work.complete("done");

    assertThat(run.join()).isEqualTo(new LeaseRun<>(true, "done", LeaseOutcome.RELEASED));
    assertFree("job");
  }

  @Test
  void async_workThatFails_failsWithItsCauseAndTheLeaseIsFree() {
    assertThatThrownBy(
            () ->
                a.callIfAcquiredAsync(
                        "job",
                        OPTIONS,
                        lease -> CompletableFuture.failedFuture(new IOException("disk")))
                    .join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(IOException.class);
    assertFree("job");
    assertThatThrownBy(
            () ->
                a.callIfAcquiredAsync(
                        "job",
                        OPTIONS,
                        lease -> {
                          throw new IllegalStateException("early");
                        })
                    .join())
        .hasCauseInstanceOf(IllegalStateException.class);
    assertFree("job");
  }

  @Test
  void async_held_skipsOrTimesOut() {
    try (Lease held = b.tryAcquire("job", OPTIONS).orElseThrow()) {
      assertThat(
              a.callIfAcquiredAsync("job", OPTIONS, lease -> CompletableFuture.completedFuture(1))
                  .join()
                  .ran())
          .isFalse();
      assertThatThrownBy(
              () ->
                  a.callExclusivelyAsync(
                          "job",
                          OPTIONS.waitTime(Duration.ofMillis(20)),
                          lease -> CompletableFuture.completedFuture(1))
                      .join())
          .hasCauseInstanceOf(LeaseTimeoutException.class);
      assertThat(held.isValid()).isTrue();
    }
  }

  @Test
  void async_interruptOnLoss_cancelsTheWork() {
    CompletableFuture<String> work = new CompletableFuture<>();
    LeaseOptions renewed =
        LeaseOptions.defaults().leaseTime(Duration.ofSeconds(1)).renewFor(LONG).interruptOnLoss();
    CompletableFuture<LeaseRun<String>> run =
        a.callIfAcquiredAsync(
            "job",
            renewed,
            lease -> {
              redis.flushAll();
              return work;
            });

    assertThatThrownBy(run::join).isInstanceOf(java.util.concurrent.CancellationException.class);
    assertThat(work).isCancelled();
  }

  @Test
  void contenders_inTwoLocks_neverOverlapAndTokensGrow() throws Exception {
    List<Long> tokens = new CopyOnWriteArrayList<>();
    int[] inside = new int[1];
    Thread[] threads = new Thread[8];
    for (int i = 0; i < threads.length; i++) {
      LeaseLock lock = i % 2 == 0 ? a : b;
      threads[i] =
          new Thread(
              () -> {
                for (int round = 0; round < 25; round++) {
                  lock.runExclusively(
                      "job",
                      OPTIONS.waitTime(LONG),
                      lease -> {
                        // Not atomic on purpose: two holders would be seen here.
                        int before = inside[0];
                        LockSupport.parkNanos(1_000);
                        inside[0] = before + 1;
                        tokens.add(lease.fencingToken());
                      });
                }
              });
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(inside[0]).isEqualTo(200);
    assertThat(tokens).hasSize(200).isSorted().doesNotHaveDuplicates();
    Optional<Lease> last = a.tryAcquire("job", OPTIONS);
    assertThat(last).isPresent();
  }
}
