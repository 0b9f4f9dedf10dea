/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.InMemoryPaddock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The examples of tests in the pages, which are tests themselves. */
final class UnitTestExamplesTest {

  private static Cache<Long, String> titles(Paddock paddock) {
    return paddock
        .<Long, String>cache("titles", Codecs.string())
        .timeToLive(Duration.ofMinutes(1))
        .serveStaleFor(Duration.ofMinutes(10))
        .build();
  }

  @Test
  void title_askedForByTwoProcesses_isLoadedOnce() throws Exception {
    try (InMemoryPaddock fleet = InMemoryPaddock.virtual(1)) {
      Cache<Long, String> here = titles(fleet.paddock());
      Cache<Long, String> there = titles(fleet.newProcess());

      assertThat(fleet.call(() -> here.get(42L, id -> "loaded here"))).isEqualTo("loaded here");
      assertThat(fleet.call(() -> there.get(42L, id -> "loaded there"))).isEqualTo("loaded here");
    }
  }

  @Test
  void title_pastItsTimeToLive_isServedStaleAndRefreshed() throws Exception {
    try (InMemoryPaddock fleet = InMemoryPaddock.virtual(1)) {
      Cache<Long, String> titles = titles(fleet.paddock());
      assertThat(fleet.call(() -> titles.get(42L, id -> "old"))).isEqualTo("old");

      fleet.environment().advance(Duration.ofMinutes(2));

      assertThat(fleet.call(() -> titles.get(42L, id -> "new"))).isEqualTo("old");
      fleet.environment().run();
      assertThat(fleet.call(() -> titles.get(42L, id -> "newer"))).isEqualTo("new");
    }
  }
}
