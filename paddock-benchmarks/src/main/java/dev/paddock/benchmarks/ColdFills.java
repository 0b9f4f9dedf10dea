/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Reads of keys that nobody has stored. */
final class ColdFills {
  private static final int WARM_ROUNDS = 5;

  /** As many in a quick run: with fewer, what is measured is how far the compiler has come. */
  private static final int WARM_KEYS = 1000;

  private static final int STORM_THREADS = 64;
  private static final long STORM_LOAD_MICROS = 1000;

  private ColdFills() {}

  static List<Line> one(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    Pairs young = new Pairs();
    Pairs steps = new Pairs();
    Pairs ownScripts = new Pairs();
    try (WorkerProcess worker = bench.startWorker()) {
      int round = 0;
      for (int i = 0; i < WARM_ROUNDS; i++) {
        double ours = fill(worker, Way.PADDOCK, round++, WARM_KEYS, 1, 0).medianNanos();
        double bound = fill(worker, Way.STEPS, round++, WARM_KEYS, 1, 0).medianNanos();
        fill(worker, Way.OWN_SCRIPTS, round++, WARM_KEYS, 1, 0);
        if (i == 0) {
          young.add(ours / 1e3, bound / 1e3);
        }
      }
      for (int i = 0; i < scale.fillPairs(); i++) {
        double ours = fill(worker, Way.PADDOCK, round++, scale.fillKeys(), 1, 0).medianNanos();
        double bound = fill(worker, Way.STEPS, round++, scale.fillKeys(), 1, 0).medianNanos();
        double own = fill(worker, Way.OWN_SCRIPTS, round++, scale.fillKeys(), 1, 0).medianNanos();
        steps.add(ours / 1e3, bound / 1e3);
        ownScripts.add(ours / 1e3, own / 1e3);
      }
    }
    return List.of(
        Line.of(Figure.COLD_FILL, "", "us", steps, Target.ratioAtMost(1.15)),
        Line.of(Figure.COLD_FILL, "against its own scripts by hand", "us", ownScripts, null),
        Line.of(Figure.COLD_FILL, "first " + WARM_KEYS + " of a young JVM", "us", young, null));
  }

  static List<Line> many(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    Pairs pairs = new Pairs();
    List<Double> recipe = new ArrayList<>();
    try (WorkerProcess worker = bench.startWorker()) {
      int round = 0;
      for (Way way : List.of(Way.PADDOCK, Way.BARE, Way.PADDOCK, Way.BARE, Way.RECIPE)) {
        storm(worker, way, round++, scale.stormKeys() / 2);
      }
      for (int i = 0; i < scale.stormPairs(); i++) {
        double ours = storm(worker, Way.PADDOCK, round++, scale.stormKeys());
        pairs.add(ours, storm(worker, Way.BARE, round++, scale.stormKeys()));
        recipe.add(storm(worker, Way.RECIPE, round++, scale.stormKeys()));
      }
    }
    return List.of(
        Line.of(Figure.FILLS, "", "/s", pairs, Target.ratioAtLeast(0.9)),
        Line.of(
            Figure.FILLS,
            "the usual recipe, for comparison",
            "/s",
            recipe.stream().mapToDouble(Double::doubleValue).toArray(),
            null));
  }

  private static double storm(WorkerProcess worker, Way way, int round, int keys)
      throws InterruptedException {
    return keys * 1e9 / fill(worker, way, round, keys, STORM_THREADS, STORM_LOAD_MICROS).nanos();
  }

  private static Report.Filled fill(
      WorkerProcess worker, Way way, int round, int keys, int threads, long loadMicros)
      throws InterruptedException {
    String prefix = "fill-" + worker.pid() + "-" + round + "-";
    worker.send(new Order.Fills(way, prefix, keys, threads, loadMicros));
    return worker.await(Report.Filled.class, Bench.LIMIT);
  }
}
