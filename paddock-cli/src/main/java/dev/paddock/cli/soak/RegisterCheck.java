/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Judges the updates of one register: each raises what it read by one, so two acknowledged updates
 * to the same number are one update and one that was lost.
 */
final class RegisterCheck {
  /** Says that the last value is not known. */
  static final long UNKNOWN = -1;

  /**
   * An update that the database acknowledged.
   *
   * @param token the token of the lease under which it was made
   * @param to what it wrote
   * @param at when it had been acknowledged
   */
  record Update(long token, long to, long at) {}

  private RegisterCheck() {}

  /**
   * Counts.
   *
   * @param updates all that were acknowledged
   * @param last the value in the end; {@link #UNKNOWN} if it could not be read
   * @return how many of them were lost
   */
  static long lost(List<Update> updates, long last) {
    Set<Long> reached = new HashSet<>();
    updates.forEach(update -> reached.add(update.to));
    long kept = last == UNKNOWN ? reached.size() : Math.min(reached.size(), last);
    return updates.size() - kept;
  }

  /**
   * Judges the fenced twin.
   *
   * @param register which register
   * @param updates all that were acknowledged
   * @param last the value in the end; {@link #UNKNOWN} if it could not be read
   * @return what is wrong
   */
  static List<Violation> judge(int register, List<Update> updates, long last) {
    List<Violation> violations = new ArrayList<>();
    long lost = lost(updates, last);
    if (lost > 0) {
      violations.add(
          new Violation(
              "register",
              "fenced register " + register + " lost updates",
              updates.get(updates.size() - 1).at,
              updates.size() + " acknowledged updates kept",
              lost + " of them lost"));
    }
    List<Update> byValue = new ArrayList<>(updates);
    byValue.sort(Comparator.comparingLong(Update::to));
    for (int i = 1; i < byValue.size(); i++) {
      Update before = byValue.get(i - 1);
      Update after = byValue.get(i);
      if (after.token < before.token) {
        violations.add(
            new Violation(
                "register",
                "fenced register " + register + " took a smaller token after a larger one",
                after.at,
                "a token of " + before.token + " or more at " + after.to,
                "token " + after.token));
      }
    }
    return violations;
  }
}
