/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Turns of a {@link Serial} under every schedule that the model checker tries. */
final class SerialLincheckTest {
  @Test
  void turns_ofTwoSubmitters_neitherOverlapNorGetLostNorOvertake() {
    Interleavings.all(() -> run(serial()));
  }

  @Test
  void turnThatSubmits_isFollowedByWhatItSubmitted() {
    Interleavings.all(
        () -> {
          Serial serial = serial();
          List<String> order = new ArrayList<>();
          AtomicInteger others = new AtomicInteger();
          Interleavings.atOnce(
              () ->
                  serial.execute(
                      () -> {
                        serial.execute(() -> order.add("inner"));
                        order.add("outer");
                      }),
              () -> serial.execute(others::incrementAndGet));
          Interleavings.check(order.equals(List.of("outer", "inner")), "order " + order);
          Interleavings.check(others.get() == 1, "a turn was lost");
        });
  }

  @Test
  void turnThatFails_isTold_andOthersRun() {
    Interleavings.all(
        () -> {
          AtomicInteger failures = new AtomicInteger();
          AtomicInteger turns = new AtomicInteger();
          Serial serial = new Serial(error -> failures.incrementAndGet());
          Interleavings.atOnce(
              () ->
                  serial.execute(
                      () -> {
                        throw new IllegalStateException("on purpose");
                      }),
              () -> serial.execute(turns::incrementAndGet));
          Interleavings.check(failures.get() == 1 && turns.get() == 1, "a turn was lost");
        });
  }

  /** The checker's own check: whoever looks before it counts lets two run at once. */
  @Test
  void runnerThatLooksBeforeItCounts_isFoundOut() {
    ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    AtomicInteger pending = new AtomicInteger();
    Interleavings.assertFound(
        "two turns at once",
        () ->
            run(
                task -> {
                  queue.add(task);
                  if (pending.get() != 0) {
                    return;
                  }
                  pending.incrementAndGet();
                  Runnable next;
                  while ((next = queue.poll()) != null) {
                    next.run();
                  }
                  pending.decrementAndGet();
                }));
  }

  private static Serial serial() {
    return new Serial(
        error -> {
          throw new AssertionError(error);
        });
  }

  private static void run(Serial serial) {
    run(serial::execute);
  }

  private static void run(Executor serial) {
    AtomicInteger running = new AtomicInteger();
    // Not thread-safe: one turn at a time, and each sees what the one before it did.
    List<Integer> order = new ArrayList<>();
    Interleavings.atOnce(
        () -> submit(serial, running, order, 10), () -> submit(serial, running, order, 20));
    Interleavings.check(order.size() == 4, "turns were lost: " + order);
    Interleavings.check(order.indexOf(10) < order.indexOf(11), "overtaken: " + order);
    Interleavings.check(order.indexOf(20) < order.indexOf(21), "overtaken: " + order);
  }

  private static void submit(
      Executor serial, AtomicInteger running, List<Integer> order, int first) {
    for (int number : new int[] {first, first + 1}) {
      serial.execute(
          () -> {
            Interleavings.check(running.getAndIncrement() == 0, "two turns at once");
            order.add(number);
            running.decrementAndGet();
          });
    }
  }
}
