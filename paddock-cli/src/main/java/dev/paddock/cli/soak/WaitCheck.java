/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Judges how long calls took, less the time in which their process hardly ran. */
final class WaitCheck {
  private WaitCheck() {}

  /**
   * Judges one call.
   *
   * @param worker whose
   * @param key of what
   * @param begun when it began
   * @param ended when it ended
   * @param stalls when the worker did not run
   * @return what is wrong, or null
   */
  static @Nullable Violation judge(
      String worker, int key, long begun, long ended, List<Span> stalls) {
    if (ended - begun <= Terms.CALL_MAX.toNanos()) {
      return null;
    }
    long ran = ended - begun - stalled(begun, ended, stalls);
    if (ran <= Terms.CALL_MAX.toNanos()) {
      return null;
    }
    return new Violation(
        "waits",
        "a call of worker " + worker + " for key " + key + " took too long",
        begun,
        "at most " + Terms.seconds(Terms.CALL_MAX.toNanos()) + " s besides stalls",
        Terms.seconds(ended - begun) + " s, of which the process ran " + Terms.seconds(ran) + " s");
  }

  private static long stalled(long begun, long ended, List<Span> stalls) {
    long sum = 0;
    for (Span stall : stalls) {
      if (stall.touches(begun, ended)) {
        sum += Math.min(ended, stall.to()) - Math.max(begun, stall.from());
      }
    }
    return sum;
  }
}
