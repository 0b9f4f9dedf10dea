/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.spi.Environment.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class VirtualEnvironmentTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final VirtualEnvironment env = new VirtualEnvironment(42);
  private final List<String> seen = new ArrayList<>();

  @Test
  void run_tasksAndDueTimers_runInOrderWithoutTimeGoingOn() {
    env.schedule(() -> seen.add("later"), 1);
    env.schedule(() -> seen.add("due"), 0);
    env.executor()
        .execute(
            () -> {
              seen.add("first");
              env.executor().execute(() -> seen.add("third"));
            });
    env.executor().execute(() -> seen.add("second"));
    assertThat(seen).isEmpty();
    env.run();
    assertThat(seen).containsExactly("first", "second", "third", "due");
    assertThat(env.elapsedNanos()).isZero();
    assertThat(env.pendingTimers()).isEqualTo(1);
    assertThat(env.pendingTasks()).isZero();
  }

  @Test
  void advance_timersOfOneMoment_runInOrderOfScheduling() {
    env.schedule(() -> seen.add("c " + env.elapsedNanos()), 20);
    env.schedule(() -> seen.add("a " + env.elapsedNanos()), 10);
    env.schedule(() -> seen.add("b " + env.elapsedNanos()), 10);
    env.advance(Duration.ofNanos(30));
    assertThat(seen).containsExactly("a 10", "b 10", "c 20");
    assertThat(env.elapsedNanos()).isEqualTo(30);
  }

  @Test
  void advance_timerThatSchedulesAnother_runsBothWithinTheTimeAndNothingBeyond() {
    env.schedule(
        () -> {
          env.executor().execute(() -> seen.add("task " + env.elapsedNanos()));
          env.schedule(() -> seen.add("inner " + env.elapsedNanos()), 5);
          env.schedule(() -> seen.add("beyond"), 21);
        },
        10);
    env.advance(Duration.ofNanos(30));
    assertThat(seen).containsExactly("task 10", "inner 15");
  }

  @Test
  void cancel_beforeAndAfterTheTimerRan_takesBackOnlyWhatHasNotRun() {
    Timer cancelled = env.schedule(() -> seen.add("cancelled"), 10);
    Timer ran = env.schedule(() -> seen.add("ran"), 10);
    cancelled.cancel();
    assertThat(env.pendingTimers()).isEqualTo(1);
    env.advance(SECOND);
    ran.cancel();
    cancelled.cancel();
    assertThat(seen).containsExactly("ran");
  }

  @Test
  void cancel_byAnEarlierTimerOfTheSameMoment_holds() {
    Timer[] second = new Timer[1];
    env.schedule(() -> second[0].cancel(), 10);
    second[0] = env.schedule(() -> seen.add("second"), 10);
    env.advance(SECOND);
    assertThat(seen).isEmpty();
  }

  @Test
  void clocks_advanced_goOnTogetherAndTheWallClockStepsAlone() {
    long nanos = env.nanoTime();
    long wall = env.wallMillis();
    env.advance(SECOND);
    assertThat(env.nanoTime() - nanos).isEqualTo(SECOND.toNanos());
    assertThat(env.wallMillis() - wall).isEqualTo(1000);
    env.stepWall(Duration.ofSeconds(-5));
    assertThat(env.wallMillis() - wall).isEqualTo(-4000);
    env.setWallMillis(7);
    assertThat(env.wallMillis()).isEqualTo(7);
    env.advance(SECOND);
    assertThat(env.wallMillis()).isEqualTo(1007);
    assertThat(env.nanoTime() - nanos).isEqualTo(2 * SECOND.toNanos());
  }

  @Test
  void runUntil_conditionComesTrue_stopsTheClocksAtThatMoment() {
    AtomicBoolean reached = new AtomicBoolean();
    env.schedule(() -> seen.add("before"), 10);
    env.schedule(() -> reached.set(true), 20);
    env.schedule(() -> seen.add("after"), 20);
    env.runUntil(reached::get, SECOND);
    assertThat(seen).containsExactly("before");
    assertThat(env.elapsedNanos()).isEqualTo(20);
  }

  @Test
  void runUntil_conditionOutOfReach_throwsWithTheState() {
    env.schedule(() -> seen.add("too late"), SECOND.toNanos() + 1);
    assertThatThrownBy(() -> env.runUntil(() -> false, SECOND))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("PT1S")
        .hasMessageContaining("seed=42")
        .hasMessageContaining("timers=1");
    assertThat(seen).isEmpty();
    env.advance(SECOND.plusNanos(1));
    assertThat(seen).containsExactly("too late");
  }

  @Test
  void await_stage_returnsItsResult() {
    CompletableFuture<String> stage = new CompletableFuture<>();
    env.schedule(() -> stage.complete("done"), 10);
    assertThat(env.await(stage, SECOND)).isEqualTo("done");
  }

  @Test
  void run_taskThatThrows_reachesTheDriverAndKeepsTheRest() {
    env.executor()
        .execute(
            () -> {
              throw new IllegalArgumentException("planted");
            });
    env.executor().execute(() -> seen.add("next"));
    assertThatThrownBy(env::run).hasMessage("planted");
    env.run();
    assertThat(seen).containsExactly("next");
  }

  @Test
  void run_fromATask_isRefused() {
    env.executor().execute(env::run);
    assertThatThrownBy(env::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("must not drive");
    env.run();
  }

  @Test
  void run_taskThatResubmitsItself_endsWithAnError() {
    Runnable[] again = new Runnable[1];
    again[0] = () -> env.executor().execute(again[0]);
    env.executor().execute(again[0]);
    assertThatThrownBy(env::run)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("does not end");
  }

  @Test
  void schedule_negativeAndHugeDelay_areClamped() {
    env.advance(SECOND);
    env.schedule(() -> seen.add("at once"), Long.MIN_VALUE);
    env.schedule(() -> seen.add("never"), Long.MAX_VALUE);
    env.advance(Duration.ofDays(36500));
    assertThat(seen).containsExactly("at once");
  }

  @Test
  void randomLong_sameSeed_sameNumbers() {
    VirtualEnvironment same = new VirtualEnvironment(42);
    VirtualEnvironment other = new VirtualEnvironment(43);
    long first = env.randomLong();
    assertThat(same.randomLong()).isEqualTo(first);
    assertThat(other.randomLong()).isNotEqualTo(first);
    assertThat(same.nanoTime()).isEqualTo(env.nanoTime());
  }

  @Test
  void pumpUntil_submissionsOfOtherThreads_runOnTheDriverOnceEach() throws Exception {
    Thread driver = Thread.currentThread();
    AtomicInteger ran = new AtomicInteger();
    AtomicInteger elsewhere = new AtomicInteger();
    int threads = 4;
    int each = 500;
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                Runnable task =
                    () -> {
                      ran.incrementAndGet();
                      if (Thread.currentThread() != driver) {
                        elsewhere.incrementAndGet();
                      }
                    };
                for (int n = 0; n < each; n++) {
                  env.executor().execute(task);
                  env.schedule(task, 0);
                  env.schedule(task, 1).cancel();
                }
              });
      all.add(thread);
      thread.start();
    }
    start.countDown();
    env.pumpUntil(() -> ran.get() == threads * each * 2, Duration.ofSeconds(30));
    for (Thread thread : all) {
      thread.join();
    }
    env.run();
    assertThat(ran).hasValue(threads * each * 2);
    assertThat(elsewhere).hasValue(0);
    assertThat(env.elapsedNanos()).isZero();
    assertThat(env.pendingTimers()).isZero();
  }
}
