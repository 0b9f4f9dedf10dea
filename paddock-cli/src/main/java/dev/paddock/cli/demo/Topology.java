/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the servers that the demo starts are arranged. */
enum Topology {
  /** One server. */
  STANDALONE("one server"),
  /** A primary and its replicas, without anybody to replace it. */
  REPLICAS("a primary with 2 replicas"),
  /** A primary and its replicas, and Sentinels that watch over them. */
  SENTINEL("a primary with 2 replicas, watched by 3 Sentinels"),
  /** A Redis Cluster. */
  CLUSTER("a cluster of 3 masters with a replica each");

  private final String description;

  Topology(String description) {
    this.description = description;
  }

  /**
   * Says what there is.
   *
   * @return for the end of a sentence
   */
  String description() {
    return description;
  }

  String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  static List<String> options() {
    return Arrays.stream(values()).map(Topology::option).toList();
  }

  /**
   * Finds the topology of a name.
   *
   * @param option the name, in any case
   * @return null if there is none
   */
  static @Nullable Topology of(String option) {
    return Arrays.stream(values())
        .filter(each -> each.option().equalsIgnoreCase(option.strip()))
        .findFirst()
        .orElse(null);
  }
}
