/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of leases that share a value of the tag {@code lease}, or of all. */
final class LeaseMeters {
  private static final String[] OPERATIONS = {"acquire", "extend", "release", Meters.OTHER};

  private final Timer acquired;
  private final Timer refused;
  private final AtomicInteger active = new AtomicInteger();
  private final Map<LeaseOutcome, Timer> held;
  private final Timer margin;
  private final Counter extended;
  private final Map<LeaseEvent.LossReason, Counter> lost;
  private final Map<String, Counter> failures;
  private final Map<String, Counter> unknowns;
  private final Counter cleanedReleased;
  private final Counter cleanedNothing;
  private final Counter cleanedUnknown;

  LeaseMeters(Meters meters) {
    String wait = "paddock.lease.wait";
    String aboutWait = "How long callers asked and waited for a lease, by outcome";
    acquired = meters.timer(wait, aboutWait, "outcome", "acquired");
    refused = meters.timer(wait, aboutWait, "outcome", "refused");
    meters.gauge("paddock.lease.active", "Leases held by this process", active);
    held =
        Meters.perValue(
            LeaseOutcome.class,
            outcome ->
                meters.timer(
                    "paddock.lease.held", "How long leases were held", "outcome", outcome));
    margin =
        meters.timer(
            "paddock.lease.margin",
            "How long leases would have been valid yet when given back; 0 if not any more");
    extended = meters.counter("paddock.lease.extended", "Extensions of leases");
    lost =
        Meters.perValue(
            LeaseEvent.LossReason.class,
            reason ->
                meters.counter(
                    "paddock.lease.lost", "Leases lost while they were held", "reason", reason));
    String failed = "paddock.lease.store.failed";
    String aboutFailed = "Operations that failed, or had no answer in time (unknown)";
    Meters surelyFailed = meters.with("outcome", "failed");
    Meters perhapsDone = meters.with("outcome", "unknown");
    failures =
        Meters.perName(
            OPERATIONS, op -> surelyFailed.counter(failed, aboutFailed, "operation", op));
    unknowns =
        Meters.perName(OPERATIONS, op -> perhapsDone.counter(failed, aboutFailed, "operation", op));
    String cleaned = "paddock.lease.cleaned.up";
    String aboutCleaned = "Releases repeated behind an unknown outcome, by what there was";
    cleanedReleased = meters.counter(cleaned, aboutCleaned, "outcome", "released");
    cleanedNothing = meters.counter(cleaned, aboutCleaned, "outcome", "nothing");
    cleanedUnknown = meters.counter(cleaned, aboutCleaned, "outcome", "unknown");
  }

  void count(LeaseEvent event) {
    if (event instanceof LeaseEvent.Acquired got) {
      active.incrementAndGet();
      acquired.record(got.waited());
    } else if (event instanceof LeaseEvent.Refused gone) {
      refused.record(gone.waited());
    } else if (event instanceof LeaseEvent.Extended) {
      extended.increment();
    } else if (event instanceof LeaseEvent.Lost loss) {
      Meters.of(lost, loss.reason()).increment();
    } else if (event instanceof LeaseEvent.Ended ended) {
      active.decrementAndGet();
      Meters.of(held, ended.outcome()).record(ended.held());
      margin.record(Meters.atLeastZero(ended.margin()));
    } else if (event instanceof LeaseEvent.StoreFailed failed) {
      Meters.named(failed.error().mayHaveHappened() ? unknowns : failures, failed.operation())
          .increment();
    } else if (event instanceof LeaseEvent.CleanedUp cleaned) {
      Boolean released = cleaned.released();
      if (released == null) {
        cleanedUnknown.increment();
      } else {
        (released ? cleanedReleased : cleanedNothing).increment();
      }
    }
  }
}
