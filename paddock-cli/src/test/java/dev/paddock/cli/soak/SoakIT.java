/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.paddock.cli.process.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar as it is shipped, with servers, workers and faults of its own, for a minute. */
@Tag("any-jdk")
final class SoakIT {
  private static final Duration LIMIT = Duration.ofMinutes(8);

  @TempDir private Path folder;

  private Process start(String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-jar");
    command.add(Path.of(System.getProperty("basedir", "."), "target", "paddock.jar").toString());
    command.add("soak");
    command.addAll(List.of(options));
    return new ProcessBuilder(command)
        .redirectOutput(folder.resolve("out").toFile())
        .redirectError(folder.resolve("err").toFile())
        .start();
  }

  private String printed(String file) throws IOException {
    return Files.readString(folder.resolve(file), UTF_8);
  }

  @Test
  void soak_singlePrimary_keepsItsPromisesWhileTheUnfencedRegisterLosesUpdates() throws Exception {
    Process process = start("--minutes=1.2", "--topology=single", "--seed=7", "--json");
    boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
    process.destroy();

    assertThat(ended).describedAs(printed("err")).isTrue();
    String story = printed("err") + printed("out");
    assertThat(printed("out").strip()).doesNotContain("\n");
    Report report = Json.read(printed("out"), Report.class);
    assertThat(report.violations()).describedAs(story).isZero();
    assertThat(report.bites()).describedAs(story).isTrue();
    assertThat(report.passed()).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(report.seed()).isEqualTo(7);
    Report.Part part = report.topologies().get(0);
    assertThat(part.operations()).describedAs(story).isGreaterThan(1000);
    assertThat(part.faults()).describedAs(story).hasSizeGreaterThanOrEqualTo(4);
    assertThat(part.stampede().get("loads")).isPositive();
    // A worker may be killed after it has told of a load and before it reads the source.
    long loads = part.stampede().getOrDefault("loads", 0L);
    assertThat(part.stampede().get("loadsOfSource")).isBetween(loads - 3, loads);
    assertThat(part.stampede().get("invalidations")).isPositive();
    assertThat(part.register().get("unfenced"))
        .satisfies(twin -> assertThat(twin.lost()).isPositive());
    assertThat(part.register().get("fenced"))
        .satisfies(
            twin -> {
              assertThat(twin.acknowledged()).isPositive();
              assertThat(twin.rejected()).isPositive();
              assertThat(twin.lost()).isZero();
            });
  }

  @Test
  void soak_terminatedInTheMiddle_reportsAndLeavesNothingBehind() throws Exception {
    Process process = start("--minutes=30", "--topology=redlock", "--seed=8");
    await().atMost(LIMIT).until(() -> printed("err").contains(" s  "));
    List<ProcessHandle> descendants = process.descendants().toList();

    process.destroy();

    assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    await()
        .atMost(LIMIT)
        .untilAsserted(() -> assertThat(descendants).noneMatch(ProcessHandle::isAlive));
    assertThat(descendants).hasSizeGreaterThan(5);
    assertThat(printed("out")).contains("redlock: five", "0 violations", "interrupted");
  }
}
