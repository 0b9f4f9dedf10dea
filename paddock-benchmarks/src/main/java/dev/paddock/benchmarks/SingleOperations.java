/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.benchmarks.jmh.HitBenchmark;
import dev.paddock.benchmarks.jmh.JoinBenchmark;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Operations measured alone, by JMH, each round in fresh JVMs of its own. */
final class SingleOperations {
  private static final int ITERATIONS = 4;
  private static final String ALLOCATION = "gc.alloc.rate.norm";

  private SingleOperations() {}

  /**
   * One operation.
   *
   * @param micros how long it took
   * @param bytes how much all threads of the JVM allocated meanwhile
   */
  private record Cost(double micros, double bytes) {}

  static List<Line> measure(Bench bench) {
    // Other benchmarks of the machine are not this one's business; the pairs even them out.
    System.setProperty("jmh.ignoreLock", "true");
    Pairs joinMicros = new Pairs();
    Pairs joinBytes = new Pairs();
    Pairs hitMicros = new Pairs();
    Pairs hitBytes = new Pairs();
    for (int i = 0; i < bench.scale().operationRounds(); i++) {
      Cost joined = run(bench, JoinBenchmark.class, "PADDOCK");
      Cost future = run(bench, JoinBenchmark.class, "BARE");
      joinMicros.add(joined.micros(), future.micros());
      joinBytes.add(joined.bytes(), future.bytes());
      Cost hit = run(bench, HitBenchmark.class, "PADDOCK");
      Cost plain = run(bench, HitBenchmark.class, "PLAIN");
      hitMicros.add(hit.micros(), plain.micros());
      hitBytes.add(hit.bytes(), plain.bytes());
    }
    return List.of(
        Line.of(Figure.JOIN, "a caller that joins a flight", "us", joinMicros, null),
        Line.of(Figure.JOIN, "allocation per caller that joins", "B", joinBytes, null),
        Line.of(Figure.JOIN, "a hit by one thread", "us", hitMicros, null),
        Line.of(Figure.JOIN, "allocation per hit", "B", hitBytes, null));
  }

  private static Cost run(Bench bench, Class<?> benchmark, String way) {
    try {
      Path log = Files.createTempFile("paddock-jmh-", ".log");
      try {
        TimeValue iteration = TimeValue.milliseconds(bench.scale().operationMillis());
        Options options =
            new OptionsBuilder()
                .include("^" + benchmark.getName().replace(".", "\\.") + "\\.")
                .param("way", way)
                .param("uri", bench.server().uri())
                .forks(1)
                .warmupIterations(ITERATIONS)
                .warmupTime(iteration)
                .measurementIterations(ITERATIONS)
                .measurementTime(iteration)
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .output(log.toString())
                .shouldFailOnError(true)
                .build();
        Collection<RunResult> results = new Runner(options).run();
        RunResult result = results.iterator().next();
        return new Cost(result.getPrimaryResult().getScore(), allocation(result));
      } finally {
        Files.delete(log);
      }
    } catch (RunnerException e) {
      throw new BenchmarkException(benchmark.getSimpleName() + " failed: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double allocation(RunResult result) {
    for (Result<?> secondary : result.getSecondaryResults().values()) {
      if (secondary.getLabel().endsWith(ALLOCATION)) {
        return secondary.getScore();
      }
    }
    throw new BenchmarkException("JMH did not tell the allocation", null);
  }
}
