/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Judges the loads of one key: each load under a lease, but the first, needs a reason that came up
 * since the one before it, and each reason is good for one load. Reasons are the end of a stored
 * value, an invalidation, a lease that was lost, and a load that came to nothing.
 */
final class LoadCheck {
  /**
   * A process judges the age of a value by an estimate of the server's clock, which is off by a
   * round trip at most; a command's longest wait bounds that.
   */
  static final long EARLY_NANOS = Terms.COMMAND_TIMEOUT.toNanos();

  /** For how long before and after an unprotected load its reason may have been told. */
  private static final long CAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long NEVER = Long.MAX_VALUE;

  /** A load as the history has it. */
  static final class Load {
    final String worker;
    final int key;
    final long begun;
    final boolean leased;

    /** {@link Long#MAX_VALUE} if its worker was killed before its end. */
    long ended = NEVER;

    boolean failed;

    /** Null if it was not told. */
    @Nullable String fill;

    long fillAt = NEVER;

    /** {@link Long#MAX_VALUE} if it was not lost, as far as anybody knows. */
    long lostAt = NEVER;

    Load(String worker, int key, long begun, boolean leased) {
      this.worker = worker;
      this.key = key;
      this.begun = begun;
      this.leased = leased;
    }

    boolean isStored() {
      return fill != null && fill.startsWith("STORED");
    }
  }

  /**
   * Why there may be one more load.
   *
   * @param what in a word
   * @param from from when on
   * @param to until when it may have come up
   */
  record Reason(String what, long from, long to) {}

  /**
   * What came of it.
   *
   * @param judged loads under a lease that were judged
   * @param unleased loads without a lease, or beside one
   * @param passedOver loads at times at which servers forget, so that anything may be loaded again
   * @param violations those without a reason
   */
  record Outcome(int judged, int unleased, int passedOver, List<Violation> violations) {}

  private LoadCheck() {}

  /**
   * Finds the reasons that loads themselves give.
   *
   * @param loads of one key
   * @return the reasons
   */
  static List<Reason> reasons(List<Load> loads) {
    List<Reason> reasons = new ArrayList<>();
    for (Load load : loads) {
      if (load.lostAt != NEVER) {
        reasons.add(new Reason("lease lost", load.begun, load.lostAt));
      }
      if (load.ended == NEVER) {
        reasons.add(new Reason("worker killed", load.begun, NEVER));
      } else if (load.isStored()) {
        long fresh = Terms.TIME_TO_LIVE.toNanos();
        reasons.add(new Reason("expired", load.ended + fresh - EARLY_NANOS, load.fillAt + fresh));
      } else if (load.leased && !"SUPERSEDED".equals(load.fill)) {
        reasons.add(new Reason(load.failed ? "failed" : "not stored", load.begun, load.fillAt));
      }
    }
    return reasons;
  }

  /**
   * Judges.
   *
   * @param loads of one key
   * @param invalidations of that key
   * @param forgetful when servers may have forgotten
   * @param causes for loads without a lease: when each worker told one
   * @return what came of it
   */
  static Outcome judge(
      List<Load> loads, List<Reason> invalidations, List<Span> forgetful, Causes causes) {
    List<Load> ordered = new ArrayList<>(loads);
    ordered.sort(Comparator.comparingLong(load -> load.begun));
    List<Reason> unused = reasons(ordered);
    unused.addAll(invalidations);
    unused.sort(Comparator.comparingLong(Reason::to));
    List<Violation> violations = new ArrayList<>();
    int judged = 0;
    int unleased = 0;
    int passedOver = 0;
    Load before = null;
    for (Load load : ordered) {
      if (!load.leased) {
        unleased++;
        if (!causes.near(load.worker, load.begun - CAUSE_NANOS, load.begun + CAUSE_NANOS)) {
          violations.add(unprotected(load));
        }
        continue;
      }
      Load previous = before;
      before = load;
      if (previous == null) {
        judged++;
        continue;
      }
      if (Span.anyTouches(forgetful, previous.begun, load.begun)) {
        passedOver++;
        continue;
      }
      judged++;
      Reason reason =
          unused.stream()
              .filter(each -> each.from <= load.begun && each.to >= previous.begun)
              .findFirst()
              .orElse(null);
      if (reason == null) {
        violations.add(withoutReason(previous, load));
      } else {
        unused.remove(reason);
      }
    }
    return new Outcome(judged, unleased, passedOver, violations);
  }

  /** Knows when workers told why they load without a lease. */
  @FunctionalInterface
  interface Causes {
    boolean near(String worker, long from, long to);
  }

  private static Violation unprotected(Load load) {
    return new Violation(
        "loads",
        "key " + load.key + " was loaded without a lease by worker " + load.worker,
        load.begun,
        "a lost lease, a failure of the store, or a value that may not be stored, told within 5 s",
        "none was told");
  }

  private static Violation withoutReason(Load previous, Load load) {
    return new Violation(
        "loads",
        "key "
            + load.key
            + " was loaded by worker "
            + load.worker
            + " without a reason since the load by worker "
            + previous.worker,
        load.begun,
        "no load before the value ends, the lease is lost, or the load comes to nothing",
        "a load "
            + TimeUnit.NANOSECONDS.toMillis(load.begun - previous.begun)
            + " ms after the begin of the one before, which "
            + (previous.ended == NEVER
                ? "never ended"
                : "took "
                    + TimeUnit.NANOSECONDS.toMillis(previous.ended - previous.begun)
                    + " ms and came to "
                    + previous.fill));
  }
}
