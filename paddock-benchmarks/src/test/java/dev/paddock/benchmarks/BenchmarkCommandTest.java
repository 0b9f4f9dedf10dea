/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class BenchmarkCommandTest {
  private final BenchmarkCommand command = new BenchmarkCommand();
  private final CommandLine line = BenchmarkCommand.commandLine(command);

  @Test
  void only_ofTwoNames_choosesThemInTheOrderOfTheTable() {
    line.parseArgs("--only", "herd,hit");
    assertThat(command.figures()).containsExactly(Figure.HIT, Figure.HERD);
  }

  @Test
  void only_leftOut_choosesAll() {
    line.parseArgs("--quick");
    assertThat(command.figures()).containsExactly(Figure.values());
  }

  @Test
  void only_ofAnUnknownName_isRefusedWithTheNamesThereAre() {
    StringWriter err = new StringWriter();
    line.setErr(new PrintWriter(err));
    assertThat(line.execute("--only", "hits")).isEqualTo(2);
    assertThat(err.toString()).contains("\"hits\"", "hot-key", "join");
  }

  @Test
  void help_namesAllFiguresAndOptions() {
    String help = line.getUsageMessage();
    assertThat(help).contains(Figure.titles());
    assertThat(help).contains("--quick", "--only", "--json", "--check").doesNotContain("worker");
  }
}
