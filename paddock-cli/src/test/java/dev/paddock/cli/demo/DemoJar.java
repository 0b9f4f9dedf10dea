/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.cli.process.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Runs the demo as the jar that is shipped, small. */
final class DemoJar {
  /** No run takes longer, on whatever machine. */
  static final Duration LIMIT = Duration.ofMinutes(3);

  private final Path folder;
  private final List<String> times;
  private final Map<String, String> environment = new HashMap<>();

  /**
   * What came of a run.
   *
   * @param exitCode the exit code
   * @param out standard output
   * @param err standard error
   */
  record Run(int exitCode, String out, String err) {
    JsonReport json() {
      return Json.read(out, JsonReport.class);
    }
  }

  /**
   * Prepares runs.
   *
   * @param folder takes what is printed
   * @param times options for the load time and the lease, unless a run has its own
   */
  DemoJar(Path folder, List<String> times) {
    this.folder = folder;
    this.times = times;
  }

  DemoJar with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  Process start(String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-jar");
    command.add(Path.of(System.getProperty("basedir", "."), "target", "paddock.jar").toString());
    command.addAll(List.of("demo", "--processes=2", "--callers=5"));
    if (List.of(options).stream().noneMatch(option -> option.startsWith("--load-time"))) {
      command.addAll(times);
    }
    command.addAll(List.of(options));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return builder
        .redirectOutput(folder.resolve("out").toFile())
        .redirectError(folder.resolve("err").toFile())
        .start();
  }

  Run run(String... options) throws IOException, InterruptedException {
    Process process = start(options);
    try {
      boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
      String err = Files.readString(folder.resolve("err"), UTF_8);
      assertThat(ended).describedAs(err).isTrue();
      return new Run(process.exitValue(), Files.readString(folder.resolve("out"), UTF_8), err);
    } finally {
      process.destroyForcibly();
    }
  }
}
