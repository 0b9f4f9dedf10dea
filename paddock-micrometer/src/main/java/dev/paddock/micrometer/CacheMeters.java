/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import dev.paddock.CacheEvent;
import dev.paddock.CacheEvent.Degraded;
import dev.paddock.CacheEvent.LoadEnd;
import dev.paddock.CacheEvent.WaitEnd;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of one cache, all registered at once: an event then finds its meter in a field. */
final class CacheMeters {
  /** What {@link CacheEvent.StoreFailed} names, and a last one for what a later core may add. */
  private static final String[] OPERATIONS = {
    "get",
    "mget",
    "get_or_acquire",
    "fill",
    "put",
    "invalidate",
    "expire",
    "extend",
    "release",
    "raise",
    Meters.OTHER
  };

  private static final double[] PARTS = {0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.5, 2, 5, 10};

  private final SpringCounters spring;

  private final Counter hits;
  private final Counter negativeHits;
  private final Counter nearHits;
  private final Counter misses;
  private final Counter staleReads;
  private final Counter outageReads;
  private final Timer staleAge;
  private final Counter unreadable;
  private final Counter outdated;

  private final Counter granted;
  private final Counter grantedAgain;
  private final Counter grantedDegraded;
  private final Counter contended;
  private final Counter renewed;
  private final Counter leaseRanOut;
  private final Counter leaseTaken;
  private final Counter leaseInvalidated;
  private final Timer leaseHeld;
  private final Timer leaseMargin;
  private final DistributionSummary leaseUse;
  private final Counter leaseTooShort;

  private final Counter loadsLeased;
  private final Counter loadsUnleased;
  private final AtomicInteger loadsActive = new AtomicInteger();
  private final Map<LoadEnd, Timer> loads;
  private final Counter loadsRefused;
  private final Counter duplicatesLate;
  private final Counter duplicatesSuperseded;
  private final Counter refreshTooEarly;

  private final Map<FillOutcome, Counter> fills;
  private final Counter fillsUnknown;
  private final Counter notStored;

  private final Map<WaitEnd, Timer> waits;
  private final Map<Degraded.How, Counter> degraded;

  private final Counter invalidatedHard;
  private final Counter invalidatedSoft;
  private final Counter invalidatedTag;
  private final Counter cleared;
  private final Map<String, Counter> failures;
  private final Map<String, Counter> unknowns;

  CacheMeters(Meters all, String cache, SpringCounters spring) {
    this.spring = spring;
    Meters meters = all.with("cache", cache);

    String read = "paddock.read";
    String aboutRead = "Answers to reads of callers, by what they got";
    hits = meters.counter(read, aboutRead, "result", "hit");
    negativeHits = meters.counter(read, aboutRead, "result", "negative");
    nearHits = meters.counter(read, aboutRead, "result", "near");
    misses = meters.counter(read, aboutRead, "result", "miss");
    staleReads = meters.counter(read, aboutRead, "result", "stale");
    outageReads = meters.counter(read, aboutRead, "result", "outage");
    staleAge = meters.timer("paddock.stale.age", "How long served values had been stale");
    unreadable = meters.counter("paddock.unreadable", "Stored entries that could not be used");
    outdated =
        meters.counter(
            "paddock.outdated", "Stored entries outdated by a tag, or by clearing the cache");

    String lease = "paddock.fill.lease";
    String aboutLease = "Requests for fill leases, by outcome";
    granted = meters.counter(lease, aboutLease, "outcome", "granted");
    grantedAgain = meters.counter(lease, aboutLease, "outcome", "granted_again");
    grantedDegraded = meters.counter(lease, aboutLease, "outcome", "degraded");
    contended = meters.counter(lease, aboutLease, "outcome", "contended");
    renewed = meters.counter("paddock.fill.lease.renewed", "Extensions of fill leases");
    String lost = "paddock.fill.lease.lost";
    String aboutLost = "Fill leases lost while their load ran";
    leaseRanOut = meters.counter(lost, aboutLost, "reason", "ran_out");
    leaseTaken = meters.counter(lost, aboutLost, "reason", "taken");
    leaseInvalidated = meters.counter(lost, aboutLost, "reason", "invalidated");
    leaseHeld = meters.timer("paddock.fill.lease.held", "How long fill leases were held");
    leaseMargin =
        meters.timer(
            "paddock.fill.lease.margin",
            "How long fill leases would have been valid yet at their end; 0 if not any more");
    leaseUse =
        meters.summary(
            "paddock.fill.lease.use",
            "How long fill leases were held, as a part of their length; above 1 by renewal",
            "ratio",
            PARTS);
    leaseTooShort =
        meters.counter(
            "paddock.fill.lease.too.short", "Told when too many fill leases had to be renewed");

    String started = "paddock.load.started";
    String aboutStarted = "Loads begun, under a lease of their own or not";
    loadsLeased = meters.counter(started, aboutStarted, "leased", "true");
    loadsUnleased = meters.counter(started, aboutStarted, "leased", "false");
    meters.gauge("paddock.load.active", "Loads under way in this process", loadsActive);
    loads =
        Meters.perValue(
            LoadEnd.class,
            end -> meters.timer("paddock.load", "Loads, by how they ended", "end", end));
    loadsRefused = meters.counter("paddock.load.refused", "Loads not begun: as many ran as may");
    String duplicate = "paddock.load.duplicate";
    String aboutDuplicate = "Loads known to have run beside another of the same key";
    duplicatesLate = meters.counter(duplicate, aboutDuplicate, "reason", "late");
    duplicatesSuperseded = meters.counter(duplicate, aboutDuplicate, "reason", "superseded");
    refreshTooEarly =
        meters.counter("paddock.refresh.too.early", "Told when early refreshes come far too early");

    String fill = "paddock.fill";
    String aboutFill = "Loaded values offered to the store, by what became of them";
    fills =
        Meters.perValue(
            FillOutcome.class, outcome -> meters.counter(fill, aboutFill, "outcome", outcome));
    fillsUnknown = meters.counter(fill, aboutFill, "outcome", "unknown");
    notStored = meters.counter("paddock.not.stored", "Loaded values that may not be stored");

    waits =
        Meters.perValue(
            WaitEnd.class,
            end ->
                meters.timer(
                    "paddock.wait", "Waits of callers for the load of another", "end", end));
    degraded =
        Meters.perValue(
            Degraded.How.class,
            how ->
                meters.counter(
                    "paddock.degraded",
                    "Callers whom neither waiting nor loading helped, by what they got",
                    "how",
                    how));

    String invalidation = "paddock.invalidation";
    String aboutInvalidation =
        "Keys invalidated (hard) or made stale (soft), tags invalidated (tag), and the cache cleared"
            + " (all) by this process";
    invalidatedHard = meters.counter(invalidation, aboutInvalidation, "kind", "hard");
    invalidatedSoft = meters.counter(invalidation, aboutInvalidation, "kind", "soft");
    invalidatedTag = meters.counter(invalidation, aboutInvalidation, "kind", "tag");
    cleared = meters.counter(invalidation, aboutInvalidation, "kind", "all");
    String failed = "paddock.store.failed";
    String aboutFailed = "Commands that failed, or had no answer in time (unknown)";
    Meters surelyFailed = meters.with("outcome", "failed");
    Meters perhapsDone = meters.with("outcome", "unknown");
    failures =
        Meters.perName(
            OPERATIONS, op -> surelyFailed.counter(failed, aboutFailed, "operation", op));
    unknowns =
        Meters.perName(OPERATIONS, op -> perhapsDone.counter(failed, aboutFailed, "operation", op));
  }

  /** Counts an event; what is most frequent comes first. */
  void count(CacheEvent event) {
    if (event instanceof CacheEvent.Hit hit) {
      (hit.negative() ? negativeHits : hits).increment();
      spring.hit();
    } else if (event instanceof CacheEvent.NearHit) {
      nearHits.increment();
      spring.hit();
    } else if (event instanceof CacheEvent.Miss) {
      misses.increment();
      spring.miss();
    } else if (event instanceof CacheEvent.StaleServed stale) {
      staleReads.increment();
      staleAge.record(stale.age());
      spring.hit();
    } else if (event instanceof CacheEvent.WaitEnded wait) {
      Meters.of(waits, wait.end()).record(wait.duration());
    } else if (event instanceof CacheEvent.OutageServed) {
      outageReads.increment();
      spring.hit();
    } else if (event instanceof CacheEvent.Unreadable) {
      unreadable.increment();
    } else if (event instanceof CacheEvent.Outdated) {
      outdated.increment();
    } else if (!countLoad(event) && !countLease(event)) {
      countRest(event);
    }
  }

  private boolean countLoad(CacheEvent event) {
    if (event instanceof CacheEvent.LoadStarted started) {
      (started.leased() ? loadsLeased : loadsUnleased).increment();
      loadsActive.incrementAndGet();
    } else if (event instanceof CacheEvent.LoadEnded ended) {
      loadsActive.decrementAndGet();
      Meters.of(loads, ended.end()).record(ended.duration());
    } else if (event instanceof CacheEvent.LoadRefused) {
      loadsRefused.increment();
    } else if (event instanceof CacheEvent.FillEnded fill) {
      countFill(fill);
    } else if (event instanceof CacheEvent.NotStored) {
      notStored.increment();
    } else {
      return false;
    }
    return true;
  }

  private void countFill(CacheEvent.FillEnded fill) {
    FillOutcome outcome = fill.outcome();
    (outcome == null ? fillsUnknown : Meters.of(fills, outcome)).increment();
    if (outcome == FillOutcome.STORED_LATE) {
      duplicatesLate.increment();
    } else if (outcome == FillOutcome.SUPERSEDED) {
      duplicatesSuperseded.increment();
    }
    if (outcome == FillOutcome.STORED || outcome == FillOutcome.STORED_LATE) {
      spring.put();
    }
  }

  private boolean countLease(CacheEvent event) {
    if (event instanceof CacheEvent.LeaseGranted grant) {
      Counter kind = grant.seq() > 1 ? grantedAgain : granted;
      (grant.degraded() ? grantedDegraded : kind).increment();
    } else if (event instanceof CacheEvent.LeaseContended) {
      contended.increment();
    } else if (event instanceof CacheEvent.LeaseRenewed) {
      renewed.increment();
    } else if (event instanceof CacheEvent.LeaseLost lost) {
      Counter taken = lost.outcome() == ExtendOutcome.INVALIDATED ? leaseInvalidated : leaseTaken;
      (lost.outcome() == null ? leaseRanOut : taken).increment();
    } else if (event instanceof CacheEvent.LeaseEnded ended) {
      leaseHeld.record(ended.held());
      leaseMargin.record(Meters.atLeastZero(ended.margin()));
      leaseUse.record(part(ended.held(), ended.leaseTime()));
    } else if (event instanceof CacheEvent.LeaseTooShort) {
      leaseTooShort.increment();
    } else {
      return false;
    }
    return true;
  }

  private static double part(Duration held, Duration leaseTime) {
    return (double) held.toNanos() / Math.max(1, leaseTime.toNanos());
  }

  private void countRest(CacheEvent event) {
    if (event instanceof CacheEvent.Degraded how) {
      Meters.of(degraded, how.how()).increment();
    } else if (event instanceof CacheEvent.Invalidated invalidated) {
      (invalidated.hard() ? invalidatedHard : invalidatedSoft).increment();
      if (invalidated.hard()) {
        spring.removal();
      }
    } else if (event instanceof CacheEvent.TagInvalidated by) {
      (by.tag() == null ? cleared : invalidatedTag).increment();
    } else if (event instanceof CacheEvent.StoreFailed failed) {
      Meters.named(failed.error().mayHaveHappened() ? unknowns : failures, failed.operation())
          .increment();
    } else if (event instanceof CacheEvent.RefreshTooEarly) {
      refreshTooEarly.increment();
    }
  }
}
