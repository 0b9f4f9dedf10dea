/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.List;

/**
 * Judges lookups of the value that is always there: from one store of it on it is never said to be
 * missing, whatever fails, unless servers may have forgotten meanwhile. An error is an error.
 */
final class AnchorCheck {
  private AnchorCheck() {}

  /**
   * Judges.
   *
   * @param puts when the value was stored, begin and acknowledged end
   * @param misses lookups that found nothing
   * @param forgetful when servers may have forgotten
   * @return what is wrong
   */
  static List<Violation> judge(List<Span> puts, List<Span> misses, List<Span> forgetful) {
    List<Violation> violations = new ArrayList<>();
    for (Span miss : misses) {
      for (Span put : puts) {
        if (put.to() < miss.from() && !Span.anyTouches(forgetful, put.from(), miss.to())) {
          violations.add(
              new Violation(
                  "anchor",
                  "a value that was there was said to be missing",
                  miss.from(),
                  "the value stored "
                      + Terms.seconds(miss.from() - put.to())
                      + " s before, or an exception",
                  "missing"));
          break;
        }
      }
    }
    return violations;
  }
}
