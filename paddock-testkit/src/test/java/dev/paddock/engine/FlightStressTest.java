/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.testkit.InMemoryPaddock;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Flights under many real threads that ask and invalidate: a stress test, for a model checker finds
 * no end of a path that goes through timers and an executor. What each thread does comes from a
 * seed, {@code -Dpaddock.stress.seed=N}; how they interleave does not.
 */
@Timeout(120)
final class FlightStressTest {
  private static final long SEED =
      Long.getLong("paddock.stress.seed", new SplittableRandom().nextLong());
  private static final int THREADS = 8;
  private static final int CALLS = 1500;
  private static final int KEYS = 3;

  private final InMemoryPaddock memory = InMemoryPaddock.create();
  private final Cache<String, String> cache =
      memory
          .paddock()
          .cache("c", Codecs.string())
          .maxWait(Duration.ofMinutes(1))
          .coolDown(Duration.ZERO)
          .holdOff(Duration.ZERO)
          .build();

  private final AtomicIntegerArray truth = new AtomicIntegerArray(KEYS);
  private final AtomicIntegerArray told = new AtomicIntegerArray(KEYS);
  private final AtomicIntegerArray invalidated = new AtomicIntegerArray(KEYS);
  private final Map<String, AtomicInteger> loading = new ConcurrentHashMap<>();
  private final AtomicInteger compared = new AtomicInteger();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() {
    memory.close();
  }

  @Test
  void callersAndInvalidations_onFewKeys_eachGetOneAnswerAndNothingOlderThanTheirCall()
      throws Exception {
    CountDownLatch done = new CountDownLatch(THREADS);
    AtomicInteger answers = new AtomicInteger();
    AtomicInteger calls = new AtomicInteger();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    for (int t = 0; t < THREADS; t++) {
      SplittableRandom random = new SplittableRandom(SEED + t);
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < CALLS; i++) {
                    int key = random.nextInt(KEYS);
                    switch (random.nextInt(8)) {
                      case 0, 1 -> change(key);
                      case 2, 3, 4 -> {
                        calls.incrementAndGet();
                        int least = told.get(key);
                        int quiet = quiet(key);
                        CompletableFuture<?> answer =
                            cache
                                .getAsync("k" + key, (k, context) -> load(key, quiet, false))
                                .thenAccept(
                                    value -> {
                                      answers.incrementAndGet();
                                      checkAge(key, value, least);
                                    });
                        if (random.nextBoolean()) {
                          answer.get(60, TimeUnit.SECONDS);
                        }
                      }
                      default -> {
                        int least = told.get(key);
                        int quiet = quiet(key);
                        checkAge(key, cache.get("k" + key, k -> load(key, quiet, true)), least);
                      }
                    }
                  }
                } catch (Exception | Error e) {
                  failure.compareAndSet(null, e);
                } finally {
                  done.countDown();
                }
              });
      thread.setDaemon(true);
      thread.start();
    }
    assertThat(done.await(100, TimeUnit.SECONDS)).as("all threads came back").isTrue();
    assertThat(failure.get()).as(() -> "seed " + SEED).isNull();
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(answers).as("answers").hasValue(calls.get()));
    assertThat(wrong).as(() -> "seed " + SEED).isEmpty();
    assertThat(compared).as("loads that nobody disturbed").hasPositiveValue();
  }

  private void change(int key) {
    int changed = truth.incrementAndGet(key);
    cache.invalidate("k" + key);
    told.accumulateAndGet(key, changed, Math::max);
    invalidated.incrementAndGet(key);
  }

  /**
   * The version under which nobody is invalidating the key at this moment; -1 while somebody is.
   * Invalidations are counted after they ended and versions before they begin, and the first is
   * read first: equal, they prove such a moment.
   */
  private int quiet(int key) {
    int ended = invalidated.get(key);
    return ended == truth.get(key) ? ended : -1;
  }

  /**
   * @param quietAtCall what {@link #quiet} said before the call whose flight loads. A flight that
   *     an invalidation left behind may begin its load late, beside that of the next flight; but of
   *     two loads that were both asked for and begun without any invalidation between, one is too
   *     many.
   */
  private String load(int key, int quietAtCall, boolean slowly) {
    boolean undisturbed = quietAtCall >= 0 && quiet(key) == quietAtCall;
    AtomicInteger running =
        loading.computeIfAbsent(key + "/" + quietAtCall, k -> new AtomicInteger());
    if (undisturbed && running.incrementAndGet() > 1) {
      wrong.add("two loads of k" + key + " at once");
    }
    String value = Integer.toString(truth.get(key));
    for (int i = 0; slowly && i < 1000; i++) {
      Thread.onSpinWait();
    }
    if (undisturbed) {
      running.decrementAndGet();
      compared.incrementAndGet();
    }
    return value;
  }

  private void checkAge(int key, @Nullable String value, int least) {
    if (value == null || Integer.parseInt(value) < least) {
      wrong.add("k" + key + ": got " + value + ", at least " + least + " had been told");
    }
  }
}
