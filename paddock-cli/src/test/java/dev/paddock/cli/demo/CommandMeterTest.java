/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CommandMeterTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "true|a command of a process|1.2 [0 127.0.0.1:5555] \"GET\" \"demo:cell:world\"",
        "true|a script|1.2 [0 [::1]:5555] \"EVALSHA\" \"f\" \"2\" \"demo:c:w\" \"pdk:{7}:demo:c:w\"",
        "true|a subscription|1.2 [0 unix:/tmp/s] \"SUBSCRIBE\" \"pdk:{7}:demo:c:w\"",
        "false|somebody else's|1.2 [0 127.0.0.1:5555] \"GET\" \"theirs\"",
        "false|inside a script|1.2 [0 lua] \"GET\" \"demo:cell:world\"",
        "false|from the master|1.2 [0 127.0.0.1:7001] \"SET\" \"demo:cell:world\" \"1\"",
        "false|a move|1.2 [0 127.0.0.1:5555] \"MIGRATE\" \"h\" \"1\" \"demo:cell:world\"",
        "false|its other end|1.2 [0 127.0.0.1:5555] \"RESTORE-ASKING\" \"demo:cell:world\" \"0\"",
        "false|the stall meter's|1.2 [0 127.0.0.1:5555] \"GET\" \"demo:contact:{demo:cell:world}\""
      })
  void counts_line_isWhatAProcessSentForAnExperiment(boolean counted, String what, String line) {
    assertThat(CommandMeter.counts(line, "demo:", Set.of("127.0.0.1:7001")))
        .as(what)
        .isEqualTo(counted);
  }
}
