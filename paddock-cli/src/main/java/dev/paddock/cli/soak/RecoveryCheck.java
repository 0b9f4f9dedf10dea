/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Judges the time after the last fault has been lifted: whoever waits gets through, and what is
 * loaded is stored again.
 */
final class RecoveryCheck {
  private RecoveryCheck() {}

  /**
   * Judges.
   *
   * @param health when nothing was harmed any more
   * @param expected what has to happen, in words
   * @param happened what did
   * @return what is wrong
   */
  static List<Violation> judge(Span health, Set<String> expected, Set<String> happened) {
    List<Violation> violations = new ArrayList<>();
    for (String what : expected) {
      if (!happened.contains(what)) {
        violations.add(
            new Violation(
                "recovery",
                "no " + what + " after the last fault had been lifted",
                health.from(),
                "one within " + Terms.seconds(health.to() - health.from()) + " s",
                "none"));
      }
    }
    return violations;
  }
}
