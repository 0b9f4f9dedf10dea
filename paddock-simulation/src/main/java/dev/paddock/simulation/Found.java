/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A world in which an invariant fell.
 *
 * @param world its kind
 * @param seed its seed
 * @param keep which steps of its plan there were; null for all
 * @param violation what fell
 */
record Found(Worlds world, long seed, @Nullable Set<Integer> keep, Violation violation) {
  /** The command that shows it again. */
  String command() {
    StringBuilder command =
        new StringBuilder("./paddock simulate --world " + world.shown() + " --seed " + seed);
    if (keep != null) {
      command.append(" --keep ");
      String separator = "";
      for (int number : new TreeSet<>(keep)) {
        command.append(separator).append(number);
        separator = ",";
      }
    }
    return command.toString();
  }
}
