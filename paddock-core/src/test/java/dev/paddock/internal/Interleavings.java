/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;

/** Runs code under many schedules of its threads, which Lincheck's model checker chooses. */
final class Interleavings {
  private static final int COUNT = Integer.getInteger("paddock.lincheck.interleavings", 50);

  private Interleavings() {}

  /** Checks what must hold however the threads of the scenario take turns. */
  static void all(Runnable scenario) {
    Lincheck.runConcurrentTest(COUNT, scenario);
  }

  /** Checks that the checker finds what is known to be broken. */
  static void assertFound(String message, Runnable broken) {
    assertThatThrownBy(() -> all(broken)).hasStackTraceContaining(message);
  }

  /** Runs all of them at once, and fails with what the first of them threw. */
  static void atOnce(Runnable... all) {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (Runnable each : all) {
      threads.add(
          new Thread(
              () -> {
                try {
                  each.run();
                } catch (RuntimeException | Error e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    Throwable first = failure.get();
    if (first != null) {
      throw new AssertionError("a thread failed: " + first, first);
    }
  }

  static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
