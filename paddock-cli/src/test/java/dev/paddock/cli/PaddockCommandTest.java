/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
  @CsvSource(
      delimiter = '|',
      value = {
        "--lease|1s|from 50ms to 150ms (a quarter to three quarters of the load time)|150ms|0.15s",
        "--load-time|6s|from 100ms to 5000ms|5000ms|5s"
      })
  void demo_badDuration_isRefusedWithExamplesThatAreAccepted(
      String option, String value, String range, String millis, String seconds) {
    assertThat(execute("demo", option, value)).isEqualTo(2);
    assertThat(err.toString()).contains(range + ", such as " + millis + " or " + seconds + ", is");
    for (String example : List.of(millis, seconds)) {
      // Refused for the name that comes after it, so not for the example.
      err.getBuffer().setLength(0);
      assertThat(execute("demo", option, example, "--only=none")).isEqualTo(2);
      assertThat(err.toString()).startsWith("--only:");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "localhost:6379|it does not begin with redis://, rediss://",
        "http://:geheim@localhost|it does not begin with redis://, rediss://",
        "redis://|index",
        "redis://localhost/geheim|the number of a database",
        "rediss://:geheim/geheim@127.0.0.1:6379|percent-encode",
        "redis://localhost?timeout=5s|connectTimeout",
        "redis://:geheim@localhost:1,localhost:2/7|a cluster has only database 0",
        "redis-sentinel://:geheim@localhost:1|name-of-the-primary",
        "redis-sentinel://:geheim@localhost:0#mymaster|of a Sentinel is missing or malformed"
      })
  void demo_badUri_isRefusedWithReasonAndWithoutShowingIt(String uri, String reason) {
    assertThat(execute("demo", "--redis", uri)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--redis: malformed Redis URI: ")
        .contains(reason, "redis://user:password@host:6379/0")
        .doesNotContain("geheim");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--version", "-V", "demo --version", "demo -V"})
  void version_isPrinted(String arguments) {
    assertThat(execute(arguments.split(" ", -1))).isZero();
    assertThat(out.toString()).matches("Paddock \\d+\\.\\d+\\.\\d+\\S* \\(Java .+\\)\\R");
  }

  @Test
  void demo_unknownTopology_isRefusedWithTheNames() {
    assertThat(execute("demo", "--topology", "sharded")).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("--topology: must be one of standalone, replicas, sentinel, cluster,")
        .contains("is \"sharded\"");
  }

  @Test
  void demo_topologyAndRedis_areRefused() {
    assertThat(execute("demo", "--topology=cluster", "--redis=redis://localhost")).isEqualTo(2);
    assertThat(err.toString()).startsWith("--topology says which servers to start, and --redis");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--topology=standalone|paddock-failover|--topology sentinel or --topology cluster",
        "--topology=sentinel|paddock-migrated|--topology cluster",
        "--redis=redis://localhost:1,localhost:2|paddock-migrated|--topology cluster"
      })
  void demo_experimentThatServersDoNotTake_isRefusedWithThoseThatDo(
      String servers, String name, String advice) {
    assertThat(execute("demo", servers, "--only", name)).isEqualTo(2);
    assertThat(err.toString()).startsWith("--only: " + name).contains("use " + advice);
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
