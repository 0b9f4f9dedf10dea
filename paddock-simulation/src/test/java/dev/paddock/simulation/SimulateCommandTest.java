/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The command line. */
final class SimulateCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return SimulateCommand.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }

  @Test
  void simulate_someSeeds_tellsHowManyWorldsAndWhichFaults() {
    assertThat(run("--seeds", "30", "--first", "1", "--world", "cache")).isZero();
    assertThat(out.toString())
        .contains("Worlds of cache from seed 1 on", "30 worlds", "freeze", "All invariants held.");
  }

  @Test
  void simulate_json_isOneObject() {
    assertThat(run("--seeds", "9", "--first", "1", "--json")).isZero();
    assertThat(out.toString().strip())
        .startsWith("{\"seeds\":9,\"firstSeed\":1,\"secondsElapsed\":")
        .contains("\"faultsInjected\":{\"")
        .endsWith("\"violations\":[]}");
  }

  @Test
  void simulate_oneSeed_printsWhoDidWhatWhen() {
    assertThat(run("--seed", "3", "--world", "redlock")).isZero();
    assertThat(out.toString())
        .contains("REDLOCK_ACQUIRE", "process", "server", "all is well from here on")
        .contains("World redlock, seed 3: all invariants hold.");
  }

  @Test
  void simulate_keep_leavesTheOtherStepsOut() {
    assertThat(run("--seed", "3", "--world", "cache", "--keep", "0,1,2")).isZero();
    String few = out.toString();
    out.getBuffer().setLength(0);
    assertThat(run("--seed", "3", "--world", "cache")).isZero();
    assertThat(few.lines().count()).isLessThan(out.toString().lines().count());
  }

  @Test
  void progress_afterAWhile_tellsHowManyAndHowFast() {
    assertThat(Progress.line(12_000, 30_000_000_000L))
        .isEqualTo("12,000 worlds in 30 s, 24,000 a minute");

    Progress progress = new Progress(Long.MAX_VALUE, new PrintWriter(err, true));
    assertThat(progress.isOver(() -> 1)).isFalse();
    assertThat(err.toString()).isEmpty();
    progress.interrupt();
    assertThat(progress.isOver(() -> 1)).isTrue();
    assertThat(new Progress(0, null).isOver(() -> 1)).isTrue();
  }

  /** As a user does it: another process, which is told by its signal. */
  @Test
  void simulate_ctrlC_printsTheReportAndExitsWith130() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                SimulateCommand.class.getName(),
                "--minutes",
                "60",
                "--world",
                "cache")
            .start();
    try {
      assertThat(process.errorReader(UTF_8).readLine())
          .matches("[0-9,]+ worlds in [0-9]+ s, [0-9,]+ a minute");
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      assertThat(new String(process.getInputStream().readAllBytes(), UTF_8))
          .contains(" a minute; faults:", "All invariants held. Interrupted.");
      assertThat(process.waitFor()).isEqualTo(130);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void simulate_wrongUsage_saysWhatAndExitsWithTwo() {
    assertThat(run("--world", "mars")).isEqualTo(2);
    assertThat(err.toString()).contains("there is no world \"mars\": there are cache, lease");
    assertThat(run("--seeds", "0")).isEqualTo(2);
    assertThat(err.toString()).contains("--seeds must be at least 1, is 0");
    assertThat(run("--minutes", "-3")).isEqualTo(2);
    assertThat(run("--threads", "0")).isEqualTo(2);
    assertThat(run("--keep", "1")).isEqualTo(2);
    assertThat(err.toString()).contains("--keep goes with --seed");
    assertThat(run("--seed", "7", "--world", "cache", "--keep", "999")).isEqualTo(2);
    assertThat(err.toString()).contains("the plan of this world has the steps 0 to", "not 999");
    assertThat(run("--mutations", "--mutation", "nope")).isEqualTo(2);
    assertThat(err.toString()).contains("there is no mutation \"nope\": there are release-by");
    assertThat(run("--seed", "7", "--seeds", "3")).isEqualTo(2);
    assertThat(run("--mutations", "--seed", "7")).isEqualTo(2);
    assertThat(run("--minutes", "1e9")).isEqualTo(2);
    assertThat(err.toString()).contains("at most 100000, is 1.0E9").doesNotContain("Usage");
  }
}
