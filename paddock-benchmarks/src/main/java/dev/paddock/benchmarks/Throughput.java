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
                compare(bench, worker, Way.PADDOCK, Way.PLAIN, threads, false),
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
              compare(bench, worker, Way.PADDOCK, Way.PLAIN, HOT_THREADS, true),
              Target.ratioAtLeast(2)));
    }
  }

  /** A thread alone can't share the cost of what is not the socket's, so its target is lower. */
  static List<Line> jedis(Bench bench) throws IOException, InterruptedException {
    try (WorkerProcess worker = bench.startWorker()) {
      return List.of(
          Line.of(
              Figure.JEDIS,
              "1 thread",
              "/s",
              compare(bench, worker, Way.JEDIS, Way.SOCKET, 1, false),
              Target.ratioAtLeast(0.85)),
          Line.of(
              Figure.JEDIS,
              "16 threads",
              "/s",
              compare(bench, worker, Way.JEDIS, Way.SOCKET, 16, false),
              Target.ratioAtLeast(0.9)),
          Line.of(
              Figure.JEDIS,
              "1 thread, Lettuce as the bound",
              "/s",
              compare(bench, worker, Way.JEDIS, Way.PLAIN, 1, false),
              null));
    }
  }

  private static Pairs compare(
      Bench bench, WorkerProcess worker, Way way, Way bound, int threads, boolean oneKey)
      throws InterruptedException {
    Scale scale = bench.scale();
    slice(worker, way, threads, oneKey, scale.warmMillis());
    slice(worker, bound, threads, oneKey, scale.warmMillis());
    Pairs pairs = new Pairs();
    for (int i = 0; i < scale.hitPairs(); i++) {
      double ours = slice(worker, way, threads, oneKey, scale.sliceMillis());
      pairs.add(ours, slice(worker, bound, threads, oneKey, scale.sliceMillis()));
    }
    return pairs;
  }

  static double slice(WorkerProcess worker, Way way, int threads, boolean oneKey, long millis)
      throws InterruptedException {
    worker.send(new Order.Slice(way, threads, oneKey, millis));
    Report.Sliced slice = worker.await(Report.Sliced.class, Bench.LIMIT);
    return slice.reads() * 1e9 / slice.nanos();
  }
}
