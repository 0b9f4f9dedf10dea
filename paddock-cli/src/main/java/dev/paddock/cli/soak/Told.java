/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a worker is told: one line of JSON on its standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "told")
@JsonSubTypes({
  @JsonSubTypes.Type(Told.Hello.class),
  @JsonSubTypes.Type(Told.Outlive.class),
  @JsonSubTypes.Type(Told.Stop.class),
  @JsonSubTypes.Type(Told.Bye.class)
})
sealed interface Told {
  /**
   * The first line.
   *
   * @param seed decides what the worker does
   * @param topology how the servers are arranged
   * @param uris where they are
   * @param links port of a server, and port of this worker's link to it; empty for none
   * @param sourceFile the source of truth; null for no stampede
   * @param databaseUrl where the registers are; null for none
   * @param pids processes to end when the coordinator is gone
   */
  record Hello(
      long seed,
      Topology topology,
      List<String> uris,
      Map<Integer, Integer> links,
      @Nullable String sourceFile,
      @Nullable String databaseUrl,
      List<Long> pids)
      implements Told {}

  /**
   * Servers were started again.
   *
   * @param pids processes to end when the coordinator is gone, in place of those before
   */
  record Outlive(List<Long> pids) implements Told {}

  /** Begin no more calls, and say {@link Said.Done} when the last one has ended. */
  record Stop() implements Told {}

  /** End. */
  record Bye() implements Told {}
}
