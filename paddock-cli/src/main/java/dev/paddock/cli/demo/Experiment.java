/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/** One experiment: what is expected, how it is carried out, what came of it. */
interface Experiment {
  /**
   * Returns its name.
   *
   * @return lower case, with hyphens
   */
  String name();

  /**
   * Says what is done, for the table and the progress.
   *
   * @return half a sentence
   */
  String summary();

  /**
   * Says what should come of it.
   *
   * @param settings the sizes
   * @return in words and numbers
   */
  String expected(Settings settings);

  /**
   * Returns on which of the demo's own servers it can be carried out. On those of somebody else, to
   * which no harm may be done, it is if it can be on all of these.
   *
   * @return the topologies
   */
  default Set<Topology> topologies() {
    return EnumSet.allOf(Topology.class);
  }

  /**
   * Returns how its callers read.
   *
   * @return all the ways that occur
   */
  Set<Strategy> strategies();

  /**
   * Carries it out once.
   *
   * @param stage the processes and Redis
   * @return what came of it
   * @throws DemoException if something did not happen in time, or broke
   * @throws IOException if a process can't be reached
   * @throws InterruptedException if the thread was interrupted
   */
  Finding run(Stage stage) throws IOException, InterruptedException;
}
