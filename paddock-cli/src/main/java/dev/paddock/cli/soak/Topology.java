/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the servers of a soak are arranged. */
enum Topology {
  /** A primary, two replicas, three Sentinels. */
  SINGLE("a primary, two replicas and three Sentinels"),
  /** Five independent masters. */
  REDLOCK("five independent masters"),
  /** Three masters with a replica each. */
  CLUSTER("a cluster of three masters with a replica each");

  private final String description;

  Topology(String description) {
    this.description = description;
  }

  String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  String description() {
    return description;
  }

  /** Five masters keep leases, and nothing else. */
  boolean caches() {
    return this != REDLOCK;
  }

  /**
   * Finds what an option names.
   *
   * @param option the text
   * @return one of them, all of them, or null
   */
  static @Nullable List<Topology> of(String option) {
    if (option.equals("all")) {
      return List.of(values());
    }
    return Arrays.stream(values())
        .filter(each -> each.option().equals(option))
        .findFirst()
        .map(List::of)
        .orElse(null);
  }
}
