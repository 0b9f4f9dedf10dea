/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class DemoCommandTest {
  private static DemoCommand parsed(String... args) {
    DemoCommand command = new DemoCommand();
    new CommandLine(command).parseArgs(args);
    return command;
  }

  @Test
  void settings_noOptions_areTheDocumentedDefaults() {
    assertThat(parsed().settings())
        .isEqualTo(new Settings(4, 50, 200, 150, 1, null, Topology.STANDALONE));
  }

  @Test
  void settings_allOptions_areTaken() {
    assertThat(
            parsed(
                    "--processes=2",
                    "--callers=5",
                    "--load-time=1s",
                    "--lease=250ms",
                    "--repeat=3",
                    "--redis=redis://localhost:6380/2")
                .settings())
        .isEqualTo(
            new Settings(2, 5, 1000, 250, 3, "redis://localhost:6380/2", Topology.STANDALONE));
  }

  @Test
  void settings_noLease_isThreeQuartersOfTheLoadTime() {
    assertThat(parsed("--load-time=101ms").settings().leaseMillis()).isEqualTo(75);
  }

  @Test
  void allCallers_callersAreGivenPerProcess_areThoseOfAllProcesses() {
    assertThat(parsed("--processes=3", "--callers=7").settings().allCallers()).isEqualTo(21);
  }

  @Test
  void experiments_noneChosen_areAll() {
    assertThat(parsed().experiments()).hasSize(15).isEqualTo(Catalogue.on(Topology.STANDALONE));
  }

  @ParameterizedTest
  @CsvSource({
    "standalone,STANDALONE,15,redlock",
    "Replicas,REPLICAS,13,paddock-failing",
    "sentinel,SENTINEL,14,paddock-failover",
    "cluster,CLUSTER,15,paddock-failover"
  })
  void experiments_onATopology_areThoseThatItsServersTake(
      String option, Topology topology, int number, String last) {
    DemoCommand command = parsed("--topology", option);
    assertThat(command.settings().topology()).isEqualTo(topology);
    assertThat(command.experiments())
        .hasSize(number)
        .last()
        .extracting(Experiment::name)
        .isEqualTo(last);
  }

  @Test
  void experiments_onServersOfSomebodyElse_doThemNoHarm() {
    assertThat(parsed("--redis=redis-sentinel://localhost#mymaster").experiments())
        .extracting(Experiment::name)
        .hasSize(13)
        .doesNotContain("paddock-failover", "paddock-migrated", "failover", "redlock");
  }

  @Test
  void experiments_someChosen_keepTheOrderOfTheCatalogue() {
    assertThat(
            parsed("--only", "paddock-wait,unprotected", "--only=plain-del").experiments().stream()
                .map(Experiment::name))
        .containsExactly("unprotected", "plain-del", "paddock-wait");
  }

  @Test
  void experiments_namesWithSpacesAround_areTaken() {
    assertThat(
            parsed("--only", "unprotected, paddock-wait ").experiments().stream()
                .map(Experiment::name))
        .containsExactly("unprotected", "paddock-wait");
  }

  @Test
  void limit_longestLoads_leavesTimeForTheLongestExperiment() {
    Settings settings = parsed("--load-time=5s").settings();
    // Callers queue for 15 loads' time, and the last one may take two.
    assertThat(DemoCommand.limit(settings)).isGreaterThan(Duration.ofSeconds(60 + 17 * 5));
  }
}
