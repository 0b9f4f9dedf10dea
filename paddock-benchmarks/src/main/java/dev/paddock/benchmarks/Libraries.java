/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.testkit.CommandCounter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Paddock beside other libraries of the JVM: in each round all of them are measured, one after the
 * other, on the same server, by the same processes, with the same values. The bound of a line is
 * the other library. Which call of it is used is said at its reader.
 */
final class Libraries {
  private static final int[] HIT_THREADS = {1, 16};
  private static final int MANY_THREADS = 16;
  private static final long MANY_LOAD_MICROS = 1000;

  /** Of the keys of a storm: what locks a whole cache takes its time for each of them. */
  private static final int MANY_KEYS_PART = 50;

  private static final int LATE_KEYS = 10;
  private static final int WARM_HERDS_MAX = 10;
  private static final long WARM_LOAD_MILLIS = 5;
  private static final int WARM_KEYS_MIN = 10;

  /** Those that load. Caffeine keeps its values in the process. */
  private static final List<Way> LOADING =
      List.of(Way.CAFFEINE, Way.SPRING, Way.SPRING_LOCKING, Way.REDISSON, Way.JETCACHE);

  private static final List<Way> REMOTE =
      List.of(Way.SPRING, Way.SPRING_LOCKING, Way.REDISSON, Way.JETCACHE);

  /** Those that keep values in the process. */
  private static final List<Way> NEAR =
      List.of(Way.CAFFEINE, Way.REDISSON_NEAR, Way.JETCACHE_TWO_LEVELS);

  private final Bench bench;
  private final Scale scale;
  private final List<Line> lines = new ArrayList<>();
  private int round;

  private Libraries(Bench bench) {
    this.bench = bench;
    this.scale = bench.scale();
  }

  static List<Line> measure(Bench bench) throws IOException, InterruptedException {
    Libraries libraries = new Libraries(bench);
    libraries.herds();
    try (WorkerProcess worker = bench.startWorker()) {
      bench.say("  cold fills");
      libraries.fills(worker);
      bench.say("  hits");
      libraries.hits(worker);
      bench.say("  near hits");
      libraries.nearHits(worker);
      libraries.lateFills(worker);
    }
    return libraries.lines;
  }

  /** Paddock's values, each beside that of a library. */
  private static final class Sides {
    private final Map<Way, Pairs> pairs = new EnumMap<>(Way.class);

    void add(Way library, double ours, double theirs) {
      pairs.computeIfAbsent(library, way -> new Pairs()).add(ours, theirs);
    }
  }

  private static String name(Way library) {
    return switch (library) {
      case CAFFEINE -> "Caffeine";
      case SPRING -> "Spring";
      case SPRING_LOCKING -> "Spring locking";
      case REDISSON, REDISSON_NEAR -> "Redisson";
      case JETCACHE, JETCACHE_TWO_LEVELS -> "JetCache";
      default -> throw new IllegalArgumentException(library + " is no library");
    };
  }

  private void add(String what, String unit, Sides sides) {
    sides.pairs.forEach(
        (library, pairs) ->
            lines.add(Line.of(Figure.LIBRARIES, what + ": " + name(library), unit, pairs, null)));
  }

  // ---------------------------------------------------------------- herds

  private void herds() throws IOException, InterruptedException {
    List<WorkerProcess> fleet = bench.fleet(scale.processes());
    List<Way> all = new ArrayList<>(LOADING);
    all.add(0, Way.PADDOCK);
    for (Way way : all) {
      warm(fleet, way);
    }
    bench.say("  herds");
    Sides p50 = new Sides();
    Sides p99 = new Sides();
    Map<Way, Double> mostLoads = new EnumMap<>(Way.class);
    for (int i = 0; i < scale.libraryRounds(); i++) {
      Herds.Herd ours = herd(fleet, Way.PADDOCK, mostLoads);
      for (Way way : LOADING) {
        Herds.Herd theirs = herd(fleet, way, mostLoads);
        p50.add(way, ours.p50Millis(), theirs.p50Millis());
        p99.add(way, ours.p99Millis(), theirs.p99Millis());
      }
    }
    Sides commands = new Sides();
    try (CommandCounter counter = CommandCounter.on(bench.server())) {
      for (int i = 0; i < scale.countedHerds(); i++) {
        double ours = counted(fleet, Way.PADDOCK, counter, mostLoads);
        for (Way way : REMOTE) {
          commands.add(way, ours, counted(fleet, way, counter, mostLoads));
        }
      }
    }
    Sides loads = new Sides();
    for (Way way : LOADING) {
      loads.add(way, most(mostLoads, Way.PADDOCK), most(mostLoads, way));
    }
    add("most loads", "", loads);
    add("commands", "", commands);
    add("p50", "ms", p50);
    add("p99", "ms", p99);
  }

  private static double most(Map<Way, Double> mostLoads, Way way) {
    return mostLoads.getOrDefault(way, 0.0);
  }

  private Herds.Herd herd(List<WorkerProcess> fleet, Way way, Map<Way, Double> mostLoads)
      throws InterruptedException {
    Herds.Herd herd = Herds.run(bench, fleet, way, scale.callers(), scale.loadMillis());
    mostLoads.merge(way, (double) herd.loads(), Math::max);
    return herd;
  }

  private double counted(
      List<WorkerProcess> fleet, Way way, CommandCounter counter, Map<Way, Double> mostLoads)
      throws InterruptedException {
    Herds.Counted herd = Herds.counted(bench, fleet, way, scale.callers(), counter);
    mostLoads.merge(way, (double) herd.loads(), Math::max);
    return herd.commands();
  }

  /** Opens the connections, and lets the JVMs compile what a herd runs. */
  private void warm(List<WorkerProcess> fleet, Way way) throws InterruptedException {
    for (WorkerProcess worker : fleet) {
      String prefix = prefix(worker);
      worker.send(new Order.Fills(way, prefix, WARM_KEYS_MIN + scale.fillKeys(), 1, 0));
    }
    for (WorkerProcess worker : fleet) {
      worker.await(Report.Filled.class, Bench.LIMIT);
    }
    for (int i = 0; i < Math.min(WARM_HERDS_MAX, scale.warmHerds()); i++) {
      Herds.run(bench, fleet, way, scale.callers(), WARM_LOAD_MILLIS);
    }
  }

  private String prefix(WorkerProcess worker) {
    return "library-" + worker.pid() + "-" + round++ + "-";
  }

  // ---------------------------------------------------------------- fills

  private void fills(WorkerProcess worker) throws InterruptedException {
    List<Way> all = new ArrayList<>(REMOTE);
    all.add(0, Way.PADDOCK);
    for (Way way : all) {
      fill(worker, way, 2 * scale.fillKeys(), 1, 0);
    }
    Sides one = new Sides();
    for (int i = 0; i < scale.libraryRounds(); i++) {
      double ours = fill(worker, Way.PADDOCK, scale.fillKeys(), 1, 0).medianNanos() / 1e3;
      for (Way way : REMOTE) {
        one.add(way, ours, fill(worker, way, scale.fillKeys(), 1, 0).medianNanos() / 1e3);
      }
    }
    add("cold fill", "us", one);
    Sides many = new Sides();
    for (int i = 0; i < scale.stormPairs(); i++) {
      double ours = storm(worker, Way.PADDOCK);
      for (Way way : REMOTE) {
        many.add(way, ours, storm(worker, way));
      }
    }
    add("fills", "/s", many);
  }

  private double storm(WorkerProcess worker, Way way) throws InterruptedException {
    int keys = Math.max(1, scale.stormKeys() / MANY_KEYS_PART);
    return keys * 1e9 / fill(worker, way, keys, MANY_THREADS, MANY_LOAD_MICROS).nanos();
  }

  private Report.Filled fill(WorkerProcess worker, Way way, int keys, int threads, long loadMicros)
      throws InterruptedException {
    worker.send(new Order.Fills(way, prefix(worker), keys, threads, loadMicros));
    return worker.await(Report.Filled.class, Bench.LIMIT);
  }

  // ---------------------------------------------------------------- hits

  private void hits(WorkerProcess worker) throws InterruptedException {
    for (int threads : HIT_THREADS) {
      add(
          "hit, " + threads + (threads == 1 ? " thread" : " threads"),
          "/s",
          slices(worker, Way.PADDOCK, REMOTE, threads));
    }
  }

  private void nearHits(WorkerProcess worker) throws InterruptedException {
    for (int threads : HIT_THREADS) {
      add(
          "near hit, " + threads + (threads == 1 ? " thread" : " threads"),
          "/s",
          slices(worker, Way.PADDOCK_NEAR, NEAR, threads));
    }
  }

  private Sides slices(WorkerProcess worker, Way ours, List<Way> theirs, int threads)
      throws InterruptedException {
    Throughput.slice(worker, ours, threads, false, scale.warmMillis());
    for (Way way : theirs) {
      Throughput.slice(worker, way, threads, false, scale.warmMillis());
    }
    Sides pairs = new Sides();
    for (int i = 0; i < scale.libraryRounds(); i++) {
      double reads = Throughput.slice(worker, ours, threads, false, scale.sliceMillis());
      for (Way way : theirs) {
        pairs.add(way, reads, Throughput.slice(worker, way, threads, false, scale.sliceMillis()));
      }
    }
    return pairs;
  }

  // ---------------------------------------------------------------- late fills

  private void lateFills(WorkerProcess worker) throws InterruptedException {
    double ours = outdated(worker, Way.PADDOCK);
    for (Way way : LOADING) {
      String what = "late fills: " + name(way);
      double theirs = outdated(worker, way);
      // No ratio: none is the best on either side.
      lines.add(new Line(Figure.LIBRARIES.title(), what, "", ours, theirs, null, null, null, null));
    }
  }

  private double outdated(WorkerProcess worker, Way way) throws InterruptedException {
    worker.send(new Order.Late(way, prefix(worker), LATE_KEYS));
    return worker.await(Report.Outdated.class, Bench.LIMIT).reads();
  }
}
