/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WarmUpTest {
  private static final Settings SMALLEST =
      new Settings(2, 5, 100, 75, 1, null, Topology.STANDALONE);
  private static final Settings LARGEST =
      new Settings(8, 200, 5000, 3750, 1, null, Topology.STANDALONE);

  private static List<Experiment> named(String... names) {
    return Catalogue.all().stream()
        .filter(experiment -> List.of(names).contains(experiment.name()))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "unprotected,UNPROTECTED",
    "in-process,UNPROTECTED",
    "check-then-set,TOKEN_RELEASE",
    "setnx-then-expire,TOKEN_RELEASE",
    "plain-del,TOKEN_RELEASE",
    "token-release,TOKEN_RELEASE",
    "paddock-wait,PADDOCK_FRESH",
    "paddock-stale,PADDOCK_FRESH",
    "paddock-failing,PADDOCK_FRESH"
  })
  void of_oneExperiment_isItsKindOfReadingAndNoOther(String name, Strategy strategy) {
    assertThat(WarmUp.of(named(name), LARGEST))
        .extracting(WarmUp::strategy)
        .containsExactly(strategy);
  }

  @Test
  void of_experimentWithTwoKindsOfReading_isBoth() {
    assertThat(WarmUp.of(named("paddock-invalidated"), LARGEST))
        .extracting(WarmUp::strategy)
        .containsExactlyInAnyOrder(Strategy.UNPROTECTED, Strategy.PADDOCK_FRESH);
  }

  @Test
  void of_all_isEachKindOnce() {
    assertThat(WarmUp.of(Catalogue.all(), LARGEST))
        .extracting(WarmUp::strategy)
        .containsExactlyInAnyOrder(
            Strategy.UNPROTECTED, Strategy.TOKEN_RELEASE, Strategy.PADDOCK_FRESH);
  }

  @Test
  void of_lock_neitherGrowsWithTheCallersNorGoesOnUntilAllHaveLoaded() {
    List<WarmUp> locks =
        Stream.of(SMALLEST, LARGEST)
            .map(settings -> WarmUp.of(named("token-release"), settings))
            .flatMap(List::stream)
            .toList();
    assertThat(locks).hasSize(2);
    assertThat(locks.get(1)).isEqualTo(locks.get(0));
    assertThat(locks.get(1).callers()).isBetween(1, 5);
    assertThat(locks.get(1).patienceMillis()).isBetween(1L, 1000L);
  }

  @Test
  void of_paddock_hasAllCallers() {
    assertThat(WarmUp.of(named("paddock-wait"), LARGEST))
        .containsExactly(new WarmUp(Strategy.PADDOCK_FRESH, 200, WarmUp.NO_HURRY_MILLIS));
  }
}
