/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** What a process keeps. */
final class Memory {
  /** What a JVM gains and loses by itself between two looks. */
  private static final double NOISE_KIB = 1024;

  private static final Duration LIMIT = Duration.ofMinutes(15);

  private Memory() {}

  static List<Line> measure(Bench bench) throws IOException, InterruptedException {
    Scale scale = bench.scale();
    try (WorkerProcess worker = bench.startWorker()) {
      worker.send(new Order.Rest(scale.restKeys(), scale.flights()));
      Report.Rested rested = worker.await(Report.Rested.class, LIMIT);
      return List.of(
          Line.of(
              Figure.MEMORY,
              String.format(Locale.ROOT, "growth by %,d keys at rest", scale.restKeys()),
              "KiB",
              new double[] {rested.growthBytes() / 1024.0},
              Target.atMost(NOISE_KIB)),
          Line.of(
              Figure.MEMORY,
              String.format(Locale.ROOT, "one of %,d open flights", scale.flights()),
              "B",
              new double[] {rested.flightBytes()},
              null),
          Line.of(
              Figure.MEMORY,
              "left when the flights have ended",
              "KiB",
              new double[] {rested.leftBytes() / 1024.0},
              Target.atMost(NOISE_KIB)));
    }
  }
}
