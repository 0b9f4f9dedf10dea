/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/**
 * Virtual threads that wait in blocking calls leave their carriers: the flight recorder sees no
 * frame of ours in a stack that pins one. The recorder is shown a stack that does, so that silence
 * means something.
 */
@Timeout(120)
@EnabledForJreRange(
    min = JRE.JAVA_21,
    disabledReason = "there are no virtual threads before Java 21")
final class PinnedThreadsIT {
  private static final int KEYS = 4;
  private static final int CALLERS = 200;
  private static final Duration LOAD = Duration.ofMillis(200);
  private static final String PINNED = "jdk.VirtualThreadPinned";

  /** Waits in its initialiser, which is called from native code: no carrier is left there. */
  private static final class Pinning {
    static final int DONE = waited();

    private static int waited() {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      return 1;
    }
  }

  @Test
  void blockingCalls_ofManyVirtualThreads_pinNoCarrier() throws Exception {
    Queue<RecordedEvent> pinned = new ConcurrentLinkedQueue<>();
    AtomicInteger loads = new AtomicInteger();
    try (RedisServerProcess server = RedisServerProcess.start();
        RecordingStream recorder = new RecordingStream()) {
      recorder.enable(PINNED).withThreshold(Duration.ZERO).withStackTrace();
      recorder.onEvent(PINNED, pinned::add);
      // Or an event is used again for the next.
      recorder.setReuse(false);
      try (Paddock paddock =
          Paddock.newBuilder().store(server.uri()).commandTimeout(Duration.ofSeconds(30)).build()) {
        Cache<String, String> cache =
            paddock
                .<String, String>cache("posts", Codecs.string())
                .maxWait(Duration.ofMinutes(1))
                .build();
        callAll(cache, "warm", loads);
        recorder.startAsync();
        callAll(cache, "k", loads);
      }
      assertThat(loads).as("loads").hasValue(2 * KEYS);
      pinOnPurpose();
      Awaitility.await("the recorder to see the stack that pins on purpose")
          .atMost(Duration.ofSeconds(60))
          .until(() -> pinned.stream().anyMatch(event -> has(event, Pinning.class.getName())));
    }
    assertThat(pinned)
        .filteredOn(event -> !has(event, Pinning.class.getName()))
        // Whoever meets a class first waits for it in native code, in any library.
        .filteredOn(event -> !has(event, "jdk.internal.loader."))
        .filteredOn(event -> has(event, "dev.paddock."))
        .as("stacks of ours that pin a carrier")
        .isEmpty();
  }

  private static void callAll(Cache<String, String> cache, String prefix, AtomicInteger loads)
      throws Exception {
    CountDownLatch started = new CountDownLatch(CALLERS);
    ExecutorService threads = virtualThreads();
    try {
      List<Future<String>> answers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        String key = prefix + i % KEYS;
        answers.add(
            threads.submit(
                () -> {
                  started.countDown();
                  return cache.get(
                      key,
                      k -> {
                        loads.incrementAndGet();
                        // However many carriers there are, all callers get to wait.
                        assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
                        Thread.sleep(LOAD.toMillis());
                        return "v " + k;
                      });
                }));
      }
      for (int i = 0; i < CALLERS; i++) {
        assertThat(answers.get(i).get(60, TimeUnit.SECONDS)).isEqualTo("v " + prefix + i % KEYS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static void pinOnPurpose() throws Exception {
    ExecutorService threads = virtualThreads();
    try {
      assertThat(threads.submit(() -> Pinning.DONE).get(60, TimeUnit.SECONDS)).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }

  /** By reflection: this is compiled for Java 17. */
  private static ExecutorService virtualThreads() {
    try {
      return (ExecutorService)
          Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    } catch (ReflectiveOperationException e) {
      return fail("no virtual threads, although this is Java 21 or later", e);
    }
  }

  private static boolean has(RecordedEvent event, String classNameStart) {
    return event.getStackTrace() != null
        && event.getStackTrace().getFrames().stream()
            .map(RecordedFrame::getMethod)
            .anyMatch(method -> method.getType().getName().startsWith(classNameStart));
  }
}
