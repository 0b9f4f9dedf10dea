/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Runs worlds, on as many threads as there are processors; each world on one. */
final class Simulator {
  private final List<Worlds> kinds;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Found> found = new ArrayList<>();
  private final Map<Kind, Long> injected = new EnumMap<>(Kind.class);
  private final AtomicLong worlds = new AtomicLong();

  Simulator(List<Worlds> kinds) {
    this.kinds = List.copyOf(kinds);
  }

  /** Runs one world. */
  static World run(Worlds kind, long seed, @Nullable Set<Integer> keep, boolean traced) {
    World world = kind.make(seed, plan -> keep == null ? plan : plan.keep(keep), traced);
    world.runCaught();
    return world;
  }

  /** The kind of the world of a seed: they take turns. */
  Worlds kindOf(long seed) {
    return kinds.get((int) Math.floorMod(seed, (long) kinds.size()));
  }

  /**
   * Runs worlds from a seed on, until a violation is found, the number is reached or the time is
   * over.
   */
  void run(long first, long count, int threads, BooleanSupplier timeIsOver) {
    AtomicLong next = new AtomicLong();
    List<Thread> all = new ArrayList<>();
    AtomicLong failed = new AtomicLong();
    for (int i = 0; i < threads; i++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  work(first, count, next, timeIsOver);
                } catch (RuntimeException | Error e) {
                  failed.incrementAndGet();
                  throw e;
                }
              },
              "simulation-" + i);
      all.add(thread);
      thread.start();
    }
    for (Thread thread : all) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    if (failed.get() > 0) {
      throw new IllegalStateException("the simulation itself failed, see above");
    }
  }

  private void work(long first, long count, AtomicLong next, BooleanSupplier timeIsOver) {
    Map<Kind, Long> own = new EnumMap<>(Kind.class);
    while (true) {
      long index = next.getAndIncrement();
      if (index >= count || timeIsOver.getAsBoolean() || hasFound()) {
        break;
      }
      long seed = first + index;
      Worlds kind = kindOf(seed);
      World world = run(kind, seed, null, false);
      worlds.incrementAndGet();
      world.injected.forEach((fault, times) -> own.merge(fault, times, Long::sum));
      Violation violation = world.violation();
      if (violation != null) {
        lock.lock();
        try {
          found.add(new Found(kind, seed, null, violation));
        } finally {
          lock.unlock();
        }
      }
    }
    lock.lock();
    try {
      own.forEach((fault, times) -> injected.merge(fault, times, Long::sum));
    } finally {
      lock.unlock();
    }
  }

  private boolean hasFound() {
    lock.lock();
    try {
      return !found.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  List<Found> found() {
    return found;
  }

  long worlds() {
    return worlds.get();
  }

  Map<Kind, Long> injected() {
    return injected;
  }

  /**
   * Cuts a plan down to what the fall of the same invariant needs: leaves out halves, quarters and
   * so on as long as it still falls (Zeller's delta debugging, 2002, without its complements).
   *
   * @param triesMax how many worlds this may take
   */
  static Found shrink(Found from, int triesMax) {
    World whole = from.world().make(from.seed(), plan -> plan, false);
    List<Integer> keep = new ArrayList<>(whole.plan.steps().stream().map(Step::number).toList());
    Violation violation = from.violation();
    int tries = 0;
    int size = Math.max(1, keep.size() / 2);
    while (tries < triesMax) {
      boolean smaller = false;
      for (int at = 0; at < keep.size() && tries < triesMax; ) {
        Set<Integer> attempt = new HashSet<>(keep);
        keep.subList(at, Math.min(keep.size(), at + size)).forEach(attempt::remove);
        tries++;
        Violation again = run(from.world(), from.seed(), attempt, false).violation();
        if (again != null && again.invariant() == violation.invariant()) {
          keep.retainAll(attempt);
          violation = again;
          smaller = true;
        } else {
          at += size;
        }
      }
      if (size == 1 && !smaller) {
        break;
      }
      size = Math.max(1, size / 2);
    }
    return new Found(from.world(), from.seed(), Set.copyOf(keep), violation);
  }
}
