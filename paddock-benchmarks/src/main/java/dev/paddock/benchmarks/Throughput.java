/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Reads of stored values per second. */
final class Throughput {
  private static final int[] THREADS = {1, 16, 64};
  private static final int HOT_THREADS = 64;

  private Throughput() {}

  static List<Line> hit(Bench bench) throws IOException, InterruptedException {
    List<Line> lines = new ArrayList<>();
    try (WorkerProcess worker = bench.startWorker()) {
      for (int threads : THREADS) {
        lines.add(
            Line.of(
                Figure.HIT,
                threads + (threads == 1 ? " thread" : " threads"),
                "/s",
                compare(bench, worker, threads, false),
                Target.ratioAtLeast(0.97)));
      }
    }
    return lines;
  }

  static List<Line> hotKey(Bench bench) throws IOException, InterruptedException {
    try (WorkerProcess worker = bench.startWorker()) {
      return List.of(
          Line.of(
              Figure.HOT_KEY,
              HOT_THREADS + " threads",
              "/s",
              compare(bench, worker, HOT_THREADS, true),
              Target.ratioAtLeast(2)));
    }
  }

  private static Pairs compare(Bench bench, WorkerProcess worker, int threads, boolean oneKey)
      throws InterruptedException {
    Scale scale = bench.scale();
    slice(worker, Way.PADDOCK, threads, oneKey, scale.warmMillis());
    slice(worker, Way.PLAIN, threads, oneKey, scale.warmMillis());
    Pairs pairs = new Pairs();
    for (int i = 0; i < scale.hitPairs(); i++) {
      double ours = slice(worker, Way.PADDOCK, threads, oneKey, scale.sliceMillis());
      pairs.add(ours, slice(worker, Way.PLAIN, threads, oneKey, scale.sliceMillis()));
    }
    return pairs;
  }

  private static double slice(
      WorkerProcess worker, Way way, int threads, boolean oneKey, long millis)
      throws InterruptedException {
    worker.send(new Order.Slice(way, threads, oneKey, millis));
    Report.Sliced slice = worker.await(Report.Sliced.class, Bench.LIMIT);
    return slice.reads() * 1e9 / slice.nanos();
  }
}
