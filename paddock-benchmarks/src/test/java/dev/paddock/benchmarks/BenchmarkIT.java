/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The driver on a real server, with processes of its own, at the smallest size. */
@Tag("any-jdk")
final class BenchmarkIT {
  private static final Scale TINY =
      new Scale(
          true, 1, 30, 10, 3, 1, 5, 1, 50, 2, 3, 50, 1, 1, 1, 1, 150, 10, 1, 3_000, 200, 20, 1, 10);

  /** The same with a herd of four processes, whose load is longer than all need to ask. */
  private static final Scale FOUR_PROCESSES =
      new Scale(
          true, 1, 30, 10, 3, 1, 5, 1, 50, 4, 3, 1_000, 1, 1, 1, 1, 150, 10, 1, 3_000, 200, 20, 1,
          10);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream progress = new ByteArrayOutputStream();

  private JsonNode measure(Set<Figure> figures) {
    return measure(TINY, figures);
  }

  private JsonNode measure(Scale scale, Set<Figure> figures) {
    int code =
        BenchmarkCommand.run(
            scale,
            figures,
            "test",
            true,
            false,
            new PrintStream(out, true, UTF_8),
            new PrintStream(progress, true, UTF_8));
    assertThat(code).as("%s", progress).isZero();
    return JsonMapper.shared().readTree(out.toString(UTF_8));
  }

  private static JsonNode line(JsonNode report, String figure, String what) {
    for (JsonNode line : report.get("lines")) {
      if (line.get("figure").asString().equals(figure)
          && line.get("what").asString().startsWith(what)) {
        return line;
      }
    }
    throw new AssertionError("no line " + figure + ": " + what + " in " + report);
  }

  private static JsonNode ofLibrary(JsonNode report, String what, String library) {
    for (JsonNode line : report.get("lines")) {
      String text = line.get("what").asString();
      if (line.get("figure").asString().equals("libraries")
          && text.startsWith(what)
          && text.endsWith(": " + library)) {
        return line;
      }
    }
    throw new AssertionError("no line " + what + " of " + library + " in " + report);
  }

  private static double loads(JsonNode report, String library) {
    return ofLibrary(report, "most loads", library).get("bound").asDouble();
  }

  @Test
  void herd_ofTwoProcesses_loadsOnceAndCountsTheCommandsOfBothWays() {
    JsonNode report = measure(EnumSet.of(Figure.COMMANDS, Figure.HERD, Figure.CPU));

    assertThat(line(report, "commands", "hit").get("paddock").asDouble()).isEqualTo(1);
    assertThat(line(report, "commands", "cold fill").get("paddock").asDouble()).isEqualTo(3);
    assertThat(line(report, "commands", "refresh").get("paddock").asDouble()).isEqualTo(3);

    assertThat(line(report, "herd", "most loads").get("paddock").asDouble()).isEqualTo(1);
    JsonNode commands = line(report, "herd", "commands");
    // Two GETs, two claims, one finish.
    assertThat(commands.get("bound").asDouble()).isEqualTo(5);
    // GET and GET_OR_ACQUIRE of each, FILL, and at least one more look of the one that waits.
    assertThat(commands.get("paddock").asDouble()).isBetween(6.0, 20.0);
    // A caller is answered after the load has ended.
    assertThat(line(report, "herd", "load to answer, p50").get("paddock").asDouble()).isPositive();
    assertThat(line(report, "herd", "load to answer, p50").get("bound").asDouble()).isPositive();
    assertThat(line(report, "cpu", "all JVMs").get("paddock").asDouble()).isPositive();
    assertThat(line(report, "cpu", "Redis").get("paddock").asDouble()).isPositive();
  }

  @Test
  void figures_ofOneProcess_areAllMeasured() {
    JsonNode report =
        measure(
            EnumSet.of(
                Figure.HIT,
                Figure.JEDIS,
                Figure.HOT_KEY,
                Figure.COLD_FILL,
                Figure.FILLS,
                Figure.MEMORY));

    for (String figure : List.of("hit", "jedis", "hot-key", "cold-fill", "fills")) {
      assertThat(line(report, figure, "").get("paddock").asDouble()).as(figure).isPositive();
      assertThat(line(report, figure, "").get("ratio").asDouble()).as(figure).isPositive();
    }
    assertThat(line(report, "memory", "one of 20").get("paddock").asDouble()).isPositive();
  }

  @Test
  void lease_aloneAndOfTwoProcesses_isComparedWithTheRecipe() {
    JsonNode report = measure(EnumSet.of(Figure.LEASE));

    assertThat(line(report, "lease", "alone, acquire").get("ratio").asDouble()).isPositive();
    assertThat(line(report, "lease", "alone, commands").get("paddock").asDouble()).isEqualTo(2);
    for (String what : List.of("holds", "hand-over p50", "longest wait", "commands a hold")) {
      JsonNode line = line(report, "lease", "2 JVMs x 4, " + what);
      assertThat(line.get("paddock").asDouble()).as(what).isPositive();
      assertThat(line.get("bound").asDouble()).as(what).isPositive();
    }
    // To acquire and to release is the least that a hold takes.
    assertThat(line(report, "lease", "2 JVMs x 4, commands").get("paddock").asDouble())
        .isGreaterThanOrEqualTo(2);
    // That there were as many rounds as were to be measured is part of the measurement.
    for (String what :
        List.of(
            "quorum, one round",
            "quorum, with COMMIT",
            "quorum, one round, by hand",
            "quorum, with COMMIT, by hand")) {
      assertThat(line(report, "lease", what).get("paddock").asDouble()).as(what).isPositive();
      assertThat(line(report, "lease", what).get("ratio").asDouble()).as(what).isPositive();
    }
  }

  @Test
  void libraries_ofFourProcesses_loadAsOftenAsTheyPromise() {
    JsonNode report = measure(FOUR_PROCESSES, EnumSet.of(Figure.LIBRARIES));

    // One in the fleet.
    assertThat(line(report, "libraries", "most loads").get("paddock").asDouble()).isEqualTo(1);
    // One in each process.
    assertThat(loads(report, "Caffeine")).isEqualTo(4);
    assertThat(loads(report, "JetCache")).isEqualTo(4);
    // One in the fleet: by a lock of the whole cache, and by a lock of the key.
    assertThat(loads(report, "Spring locking")).isEqualTo(1);
    assertThat(loads(report, "Redisson")).isEqualTo(1);
    // One for each caller.
    assertThat(loads(report, "Spring")).isEqualTo(12);

    for (String what : List.of("commands", "cold fill", "fills", "hit, 1 thread", "hit, 16")) {
      for (String library : List.of("Spring", "Spring locking", "Redisson", "JetCache")) {
        JsonNode line = ofLibrary(report, what, library);
        assertThat(line.get("bound").asDouble()).as("%s, %s", what, library).isPositive();
        assertThat(line.get("paddock").asDouble()).as("%s, %s", what, library).isPositive();
      }
    }
    // What was loaded before a deletion is not found after it.
    assertThat(line(report, "libraries", "late fills").get("paddock").asDouble()).isZero();
    assertThat(ofLibrary(report, "late fills", "Caffeine").get("bound").asDouble()).isZero();
    assertThat(ofLibrary(report, "late fills", "JetCache").get("bound").asDouble()).isEqualTo(10);
    for (String library : List.of("Caffeine", "Redisson", "JetCache")) {
      assertThat(ofLibrary(report, "near hit, 1", library).get("bound").asDouble())
          .as(library)
          .isPositive();
    }
  }

  @Test
  void outage_ofEachKind_isMeasured() {
    JsonNode report = measure(EnumSet.of(Figure.OUTAGE));

    for (String kind : List.of("frozen", "killed", "a replica", "full")) {
      for (String what : List.of("p99 of a call", "loads of a key", "back after")) {
        assertThat(line(report, "outage", kind + ", " + what).get("paddock").asDouble())
            .as("%s, %s", kind, what)
            .isPositive();
      }
      assertThat(line(report, "outage", kind + ", calls that failed").get("paddock").asDouble())
          .as(kind)
          .isZero();
    }
  }

  @Test
  void processes_afterARun_haveEnded() throws IOException, InterruptedException {
    WorkerProcess worker;
    long redis;
    try (Bench bench = new Bench(TINY, new PrintStream(progress, true, UTF_8))) {
      worker = bench.startWorker();
      redis = bench.server().pid();
      assertThat(ProcessHandle.of(worker.pid())).hasValueSatisfying(ProcessHandle::isAlive);
    }
    assertThat(ProcessHandle.of(worker.pid()).filter(ProcessHandle::isAlive)).isEmpty();
    assertThat(ProcessHandle.of(redis).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void figure_thatFails_isReportedAndMakesTheRunFail() {
    Scale broken =
        new Scale(
            true, 1, 30, 10, 3, 1, 5, 1, 50, 2, 3, 50, 1, 1, 1, 1, 150, 10, 1, 3_000, 200, 20, 0,
            10);
    int code =
        BenchmarkCommand.run(
            broken,
            EnumSet.of(Figure.JOIN),
            "test",
            false,
            false,
            new PrintStream(out, true, UTF_8),
            new PrintStream(progress, true, UTF_8));
    assertThat(code).isEqualTo(1);
    assertThat(out.toString(UTF_8)).contains("NOT MEASURED: join");
  }
}
