/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

final class SoakCommandTest {
  private static SoakCommand parsed(String... options) {
    SoakCommand command = new SoakCommand();
    new CommandLine(command).parseArgs(options);
    return command;
  }

  @Test
  void settings_noOptions_areAllTopologiesAndBothWorkloads() {
    Soak.Settings settings = parsed().settings();

    assertThat(settings.minutes()).isEqualTo(10);
    assertThat(settings.topologies())
        .containsExactly(Topology.SINGLE, Topology.REDLOCK, Topology.CLUSTER);
    assertThat(settings.stampede()).isTrue();
    assertThat(settings.register()).isTrue();
  }

  @Test
  void settings_allOptions_areTaken() {
    assertThat(
            parsed(
                    "--minutes=0.5",
                    "--seed=-7",
                    "--workload=register",
                    "--topology=redlock",
                    "--faults=worker-stop,link-one-way")
                .settings())
        .isEqualTo(
            new Soak.Settings(
                0.5,
                -7,
                List.of(Topology.REDLOCK),
                false,
                true,
                List.of("worker-stop", "link-one-way")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--minutes 10 --seed 1",
        "--minutes 0.5 --seed -7 --topology redlock --workload register --faults worker-stop,slot-move",
        "--minutes 1440 --seed 3 --topology cluster",
        "--minutes 0.1 --seed 3 --workload stampede",
        "--minutes 2.25 --seed 3 --workload register"
      })
  void command_ofSettings_hasAllOptionsThatRepeatThem(String options) {
    Soak.Settings settings = parsed(options.split(" ", -1)).settings();

    assertThat(settings.command()).isEqualTo("./paddock soak " + options);
  }

  @Test
  void settings_stampede_isLeftToServersThatKeepValues() {
    assertThat(parsed("--workload=stampede").settings().topologies())
        .containsExactly(Topology.SINGLE, Topology.CLUSTER);
  }

  @ParameterizedTest
  @CsvSource({
    "--minutes=0,must be a number from 0.1 to 1440",
    "--minutes=NaN,must be a number from 0.1 to 1440",
    "--minutes=1441,must be a number from 0.1 to 1440",
    "--minutes=soon,must be a number from 0.1 to 1440",
    "--seed=x,must be a whole number",
    "--workload=cache,must be stampede or register",
    "--topology=standalone,must be one of single",
    "--faults=fire,there is no fault"
  })
  void settings_badValue_isRefusedWithOptionAndRange(String option, String range) {
    assertThatThrownBy(() -> parsed(option).settings())
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining(option.substring(0, option.indexOf('=')))
        .hasMessageContaining(range);
  }

  @Test
  void settings_valuesOnRedlock_areRefused() {
    SoakCommand command = parsed("--topology=redlock", "--workload=stampede");

    assertThatThrownBy(command::settings)
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("keeps leases and no values");
  }
}
