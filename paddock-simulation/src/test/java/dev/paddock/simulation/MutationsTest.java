/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each deliberate break of the protocol is caught: else the checks would prove nothing. */
final class MutationsTest {
  private static final Path HOME = Path.of("..");

  static Stream<Mutation> mutations() {
    return Mutation.all().stream();
  }

  @ParameterizedTest
  @MethodSource("mutations")
  void mutation_ofTheProtocol_isCaught(Mutation mutation) throws Exception {
    List<String> caught =
        new MutationTable(HOME, new PrintWriter(System.out, true, UTF_8), false)
            .caught(mutation, Runtime.getRuntime().availableProcessors());
    assertThat(caught)
        .as("%s: %s, within %s worlds", mutation.name(), mutation.what(), MutationTable.WORLDS_MAX)
        .isNotEmpty();
    assertThat(Invariant.values()).extracting(Enum::name).contains(caught.get(0));
  }

  @Test
  void mutation_ofATextThatIsNotThere_isRefused() {
    Mutation stale =
        new Mutation(
            "stale",
            "nothing",
            "paddock-redis/src/main/resources/dev/paddock/redis/fill.lua",
            List.of(new Mutation.Edit("no such line", "")),
            List.of(Worlds.CACHE));
    assertThatThrownBy(() -> stale.mutated(HOME))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("stale")
        .hasMessageContaining("nowhere");
  }
}
