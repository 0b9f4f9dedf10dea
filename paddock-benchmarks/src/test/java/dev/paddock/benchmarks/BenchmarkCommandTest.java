/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
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

  @Test
  void exitCode_ofAMissedTarget_isZeroUnlessItIsChecked() {
    double[] two = {2};
    List<Line> missed = List.of(Line.of(Figure.HERD, "", "", two, Target.atMost(1)));
    List<Line> reached = List.of(Line.of(Figure.HERD, "", "", two, Target.atMost(2)));
    List<Line> reported = List.of(Line.of(Figure.HERD, "", "", two, null));
    assertThat(BenchmarkCommand.exitCode(missed, List.of(), false)).isZero();
    assertThat(BenchmarkCommand.exitCode(missed, List.of(), true)).isEqualTo(1);
    assertThat(BenchmarkCommand.exitCode(reached, List.of(), true)).isZero();
    assertThat(BenchmarkCommand.exitCode(reported, List.of(), true)).isZero();
  }

  @Test
  void exitCode_ofAFigureThatWasNotMeasured_isOne() {
    List<Unmeasured> unmeasured = List.of(new Unmeasured("herd", "why"));
    assertThat(BenchmarkCommand.exitCode(List.of(), unmeasured, false)).isEqualTo(1);
  }
}
