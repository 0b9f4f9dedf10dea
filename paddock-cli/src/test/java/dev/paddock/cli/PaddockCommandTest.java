/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class PaddockCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int execute(String... args) {
    CommandLine command = PaddockCommand.commandLine();
    command.setOut(new PrintWriter(out));
    command.setErr(new PrintWriter(err));
    return command.execute(args);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--processes|1|whole number from 2 to 8",
        "--processes|9|whole number from 2 to 8",
        "--processes|two|whole number from 2 to 8",
        "--callers|4|whole number from 5 to 200",
        "--callers|201|whole number from 5 to 200",
        "--callers|99999999999|whole number from 5 to 200",
        "--load-time|99ms|duration from 100ms to 5000ms",
        "--load-time|6s|duration from 100ms to 5000ms",
        "--load-time|200|duration from 100ms to 5000ms",
        "--lease|49ms|duration from 50ms to 150ms",
        "--lease|151ms|duration from 50ms to 150ms",
        "--repeat|0|whole number from 1 to 100",
        "--repeat|101|whole number from 1 to 100"
      })
  void demo_badValue_isRefusedWithOptionValueAndRange(String option, String value, String range) {
    assertThat(execute("demo", option, value)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith(option + ": must be a " + range)
        .contains("is \"" + value + "\"")
        .contains("See ./paddock demo --help");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void demo_unknownExperiment_isRefusedWithTheNames() {
    assertThat(execute("demo", "--only", "unprotected,stampede")).isEqualTo(2);
    assertThat(err.toString())
        .contains("no experiment \"stampede\"")
        .contains("unprotected, in-process, check-then-set, setnx-then-expire")
        .contains("paddock-churn, paddock-failing");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:6379",
    "rediss://:geheim@localhost",
    "http://:geheim@localhost",
    "redis://"
  })
  void demo_badUri_isRefusedWithoutShowingIt(String uri) {
    assertThat(execute("demo", "--redis", uri)).isEqualTo(2);
    assertThat(err.toString()).contains("--redis: must be a URI such as").doesNotContain("geheim");
  }

  @Test
  void demo_unknownOption_isRefused() {
    assertThat(execute("demo", "--proceses", "4")).isEqualTo(2);
    assertThat(err.toString()).contains("--proceses");
  }

  @Test
  void paddock_noCommand_isRefused() {
    assertThat(execute()).isEqualTo(2);
    assertThat(err.toString()).contains("demo");
  }

  @Test
  void help_demo_definesTheColumns() {
    assertThat(execute("demo", "--help")).isZero();
    assertThat(out.toString()).contains("waitMillis", "beyond the load", "Exit code");
  }

  @Test
  void help_paddock_hidesTheWorker() {
    assertThat(execute("--help")).isZero();
    assertThat(out.toString()).contains("demo").doesNotContain("worker");
  }
}
