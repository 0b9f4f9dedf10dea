/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.List;

/**
 * Judges reads of one key: one that began after an invalidation had been acknowledged returns
 * nothing older than the change before that invalidation. An invalidation may be lost with a
 * server, so it counts up to the next time at which servers may have forgotten.
 */
final class FreshnessCheck {
  /**
   * An invalidation that was acknowledged.
   *
   * @param version the version of the source before it began
   * @param begun when it began
   * @param ended when it had been acknowledged
   */
  record Invalidation(long version, long begun, long ended) {}

  /**
   * A read that returned a value.
   *
   * @param worker whose
   * @param key the key
   * @param begun when it began
   * @param ended when it ended
   * @param version what it returned
   */
  record Read(String worker, int key, long begun, long ended, long version) {}

  private FreshnessCheck() {}

  /**
   * Judges one read.
   *
   * @param read the read
   * @param invalidations of its key, in any order
   * @param forgetful when servers may have forgotten
   * @return what is wrong, or nothing
   */
  static List<Violation> judge(Read read, List<Invalidation> invalidations, List<Span> forgetful) {
    List<Violation> violations = new ArrayList<>();
    Invalidation latest = null;
    for (Invalidation each : invalidations) {
      if (each.ended < read.begun && (latest == null || each.version > latest.version)) {
        latest = each;
      }
    }
    if (latest != null
        && read.version < latest.version
        && !Span.anyTouches(forgetful, latest.begun, read.ended)) {
      violations.add(
          new Violation(
              "freshness",
              "worker " + read.worker + " read an old value of key " + read.key,
              read.begun,
              "version "
                  + latest.version
                  + " or later, whose invalidation had returned "
                  + Terms.seconds(read.begun - latest.ended)
                  + " s before the read began",
              "version " + read.version));
    }
    return violations;
  }
}
