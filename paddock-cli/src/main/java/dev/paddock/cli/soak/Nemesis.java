/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerClocks;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Does harm, one fault at a time or two, with times of health between. Its seed decides what it
 * does and for how long; what comes of that, the machine decides too. Faults are drawn from a bag
 * that holds each kind once, so that a short soak meets many of them.
 */
final class Nemesis {
  private static final long ALONE_NANOS_MIN = TimeUnit.SECONDS.toNanos(10);
  private static final long LOAD_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);
  private static final int TWO_PERCENT = 25;

  /** After servers forgot: what was stored in between has ended by then. */
  private static final long AFTERMATH_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** Lifts a fault. */
  @FunctionalInterface
  private interface Healing {
    void heal() throws IOException, InterruptedException;
  }

  private final SplittableRandom random;
  private final Field field;
  private final Crew crew;
  private final History history;
  private final @Nullable ServerClocks clocks;
  private final PrintStream progress;
  private final long startNanos = System.nanoTime();
  private final Map<Fault, Integer> injected = new EnumMap<>(Fault.class);
  private final Map<Fault, String> leftOut;
  private final Deque<Fault> bag = new ArrayDeque<>();
  private final Set<Integer> hurtWorkers = new HashSet<>();
  private boolean serverHurt;

  Nemesis(
      long seed,
      Field field,
      Crew crew,
      History history,
      @Nullable ServerClocks clocks,
      Map<Fault, String> leftOut,
      PrintStream progress) {
    this.random = new SplittableRandom(seed);
    this.field = field;
    this.crew = crew;
    this.history = history;
    this.clocks = clocks;
    this.leftOut = leftOut;
    this.progress = progress;
  }

  /** How often each fault was injected, by its name. */
  Map<String, Integer> injected() {
    Map<String, Integer> all = new TreeMap<>();
    injected.forEach((fault, n) -> all.put(fault.description(), n));
    return all;
  }

  /**
   * Does harm until the time is up.
   *
   * @param endNanos when
   */
  void run(long endNanos) throws IOException, InterruptedException {
    while (left(endNanos) > 0) {
      TimeUnit.MILLISECONDS.sleep(
          Math.min(random.nextInt(500, 1500), Math.max(1, left(endNanos) / 1_000_000)));
      List<Healing> healings = new ArrayList<>();
      try {
        Fault first = draw(endNanos);
        if (first == null) {
          continue;
        }
        healings.add(inject(first));
        if (!first.isAlone() && random.nextInt(100) < TWO_PERCENT) {
          TimeUnit.MILLISECONDS.sleep(random.nextInt(50, 300));
          Fault second = draw(endNanos);
          if (second != null && second.isAlone()) {
            bag.addFirst(second);
          } else if (second != null) {
            healings.add(0, inject(second));
          }
        }
        if (!first.isAlone()) {
          TimeUnit.MILLISECONDS.sleep(random.nextInt(300, 3000));
        }
      } finally {
        for (Healing healing : healings) {
          healing.heal();
        }
        hurtWorkers.clear();
        serverHurt = false;
      }
    }
  }

  private static long left(long endNanos) {
    return endNanos - System.nanoTime();
  }

  private @Nullable Fault draw(long endNanos) {
    if (bag.isEmpty()) {
      List<Fault> all = new ArrayList<>(Fault.allBut(leftOut.keySet()));
      for (int i = all.size() - 1; i > 0; i--) {
        all.set(i, all.set(random.nextInt(i + 1), all.get(i)));
      }
      bag.addAll(all);
    }
    Fault fault = bag.poll(); // Null if this topology can have none of those that were chosen.
    // What takes servers long would outlast a soak that is about to end.
    return fault != null && fault.isAlone() && left(endNanos) < ALONE_NANOS_MIN ? null : fault;
  }

  private Healing inject(Fault fault) throws IOException, InterruptedException {
    int slot = chooseWorker(fault);
    RedisServerProcess server = serverHurt || fault.isAlone() ? null : field.writable(random);
    Healing healing = inject(fault, slot, server);
    injected.merge(fault, 1, Integer::sum);
    return healing;
  }

  private void tell(Fault fault, String whom) {
    progress.printf(
        Locale.ROOT,
        "  %6.1f s  %s: %s%n",
        (System.nanoTime() - startNanos) / 1e9,
        fault.description(),
        whom);
    progress.flush();
  }

  private int chooseWorker(Fault fault) {
    boolean link = fault.name().startsWith("LINK") && field.sharedLinks().isEmpty();
    List<Integer> free = new ArrayList<>();
    for (int slot = 0; slot < crew.size(); slot++) {
      if (!hurtWorkers.contains(slot) && (!link || crew.links(slot) != null)) {
        free.add(slot);
      }
    }
    return free.get(random.nextInt(free.size()));
  }

  private Healing inject(Fault fault, int slot, @Nullable RedisServerProcess chosen)
      throws IOException, InterruptedException {
    switch (fault) {
      case WORKER_STOP, WORKER_KILL -> {
        hurtWorkers.add(slot);
        tell(fault, "worker " + slot);
        return injectWorker(fault, slot);
      }
      case LINK_CUT, LINK_SLOW, LINK_ONE_WAY -> {
        return injectLink(fault, slot);
      }
      case SERVER_KILL, FAILOVER, SLOT_MOVE -> {
        tell(fault, "of those that take writes: " + field.whoRules());
        return injectAlone(fault);
      }
      default -> {
        RedisServerProcess server = chosen == null ? field.writable(random) : chosen;
        tell(fault, "server " + server.port());
        boolean already = serverHurt;
        serverHurt = true;
        return injectServer(fault, server, already);
      }
    }
  }

  private Healing injectWorker(Fault fault, int slot) throws IOException, InterruptedException {
    awaitLoad(slot);
    if (fault == Fault.WORKER_KILL) {
      crew.kill(slot);
      return () -> crew.replace(slot);
    }
    crew.pause(slot);
    TimeUnit.MILLISECONDS.sleep(random.nextInt(500, 2000));
    return () -> crew.resume(slot);
  }

  /** Harm in the middle of a load shows more; if there is none soon, it comes all the same. */
  private void awaitLoad(int slot) throws InterruptedException {
    long start = System.nanoTime();
    while (!crew.isLoading(slot) && System.nanoTime() - start < LOAD_NANOS_MAX) {
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }

  private Healing injectLink(Fault fault, int slot) {
    List<Links> shared = field.sharedLinks();
    if (shared.isEmpty()) {
      hurtWorkers.add(slot);
      tell(fault, "worker " + slot);
      Links links = crew.links(slot);
      if (links == null) {
        throw new SoakException("worker " + slot + " has no links");
      }
      return injectLink(fault, links);
    }
    serverHurt = true;
    int which = random.nextInt(shared.size());
    tell(fault, "all workers to server " + which);
    return injectLink(fault, shared.get(which));
  }

  private Healing injectLink(Fault fault, Links links) {
    switch (fault) {
      case LINK_CUT -> {
        links.cut();
        return links::heal;
      }
      case LINK_SLOW -> {
        links.slow(
            Duration.ofMillis(random.nextInt(10, 120)), Duration.ofMillis(random.nextInt(10, 120)));
        return links::heal;
      }
      default -> {
        links.swallow(random.nextBoolean());
        return links::healAndReconnect;
      }
    }
  }

  private Healing injectAlone(Fault fault) {
    if (fault == Fault.SLOT_MOVE) {
      field.moveSlot(random);
      return () -> {};
    }
    History.Time time = history.forgetful(System.nanoTime());
    try {
      if (fault == Fault.SERVER_KILL) {
        field.kill(random);
      } else {
        field.failOver(random);
      }
      field.awaitSettled();
    } finally {
      time.end(System.nanoTime() + AFTERMATH_NANOS);
      crew.serversAre(field.pids());
    }
    return () -> {};
  }

  private Healing injectServer(Fault fault, RedisServerProcess server, boolean already)
      throws InterruptedException {
    switch (fault) {
      case SERVER_STOP -> {
        if (already) {
          return () -> {};
        }
        server.pause();
        // Short: a server that is silent for longer is replaced.
        TimeUnit.MILLISECONDS.sleep(random.nextInt(200, 1500));
        server.resume();
        return () -> {};
      }
      case CLIENT_PAUSE -> {
        Console.command(
            server,
            "CLIENT",
            "PAUSE",
            random.nextInt(200, 1500),
            random.nextBoolean() ? "ALL" : "WRITE");
        return () -> {};
      }
      case CLIENT_KILL -> {
        Console.command(server, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        Console.command(server, "CLIENT", "KILL", "TYPE", "pubsub");
        return () -> {};
      }
      case SCRIPT_FLUSH -> {
        Console.command(server, "SCRIPT", "FLUSH");
        return () -> {};
      }
      case OUT_OF_MEMORY -> {
        Console.command(server, "CONFIG", "SET", "maxmemory", "1mb");
        return () -> Console.command(server, "CONFIG", "SET", "maxmemory", "0");
      }
      case CLOCK_JUMP -> {
        return jump(server);
      }
      default -> throw new IllegalArgumentException(fault.description());
    }
  }

  private Healing jump(RedisServerProcess server) {
    ServerClocks moving = clocks;
    if (moving == null) {
      throw new SoakException("clocks can't be moved");
    }
    Duration by = Duration.ofMillis(random.nextInt(1000, 8000));
    History.Time time = history.unsteady(System.nanoTime());
    moving.set(server.port(), random.nextBoolean() ? by : by.negated());
    return () -> {
      moving.set(server.port(), Duration.ZERO);
      time.end(System.nanoTime() + by.toNanos() + AFTERMATH_NANOS);
    };
  }
}
