/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import dev.paddock.CacheEvent;
import dev.paddock.CacheEvent.Degraded;
import dev.paddock.CacheEvent.LoadEnd;
import dev.paddock.CacheEvent.WaitEnd;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOutcome;
import dev.paddock.StoreException;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One event of each kind and, where a kind has outcomes, one for each of them. */
final class EverySample {
  static final String KEY = "posts:secret@example.org";
  static final String LEASE = "order:4711";
  static final Duration TIME = Duration.ofMillis(40);

  private EverySample() {}

  static StoreException error(boolean mayHaveHappened) {
    return new StoreException("no answer", null, mayHaveHappened);
  }

  static List<CacheEvent> ofCache(String c) {
    List<CacheEvent> all = new ArrayList<>();
    all.add(new CacheEvent.Hit(c, KEY, false));
    all.add(new CacheEvent.Hit(c, KEY, true));
    all.add(new CacheEvent.NearHit(c, KEY));
    all.add(new CacheEvent.Miss(c, KEY));
    all.add(new CacheEvent.StaleServed(c, KEY, TIME));
    all.add(new CacheEvent.Unreadable(c, KEY, "foreign bytes"));
    all.add(new CacheEvent.Outdated(c, KEY));
    all.add(new CacheEvent.LeaseGranted(c, KEY, 1, 1, false));
    all.add(new CacheEvent.LeaseGranted(c, KEY, 1, 2, false));
    all.add(new CacheEvent.LeaseGranted(c, KEY, 1, 3, true));
    all.add(new CacheEvent.LeaseContended(c, KEY, TIME));
    all.add(new CacheEvent.LeaseRenewed(c, KEY));
    all.add(new CacheEvent.LeaseLost(c, KEY, null));
    all.add(new CacheEvent.LeaseLost(c, KEY, ExtendOutcome.LOST));
    all.add(new CacheEvent.LeaseLost(c, KEY, ExtendOutcome.INVALIDATED));
    all.add(new CacheEvent.LeaseEnded(c, KEY, TIME.multipliedBy(4), TIME, TIME.multipliedBy(3)));
    all.add(new CacheEvent.LeaseEnded(c, KEY, TIME, TIME.multipliedBy(2), TIME.negated()));
    all.add(new CacheEvent.LeaseTooShort(c, KEY, TIME, 0.2));
    all.add(new CacheEvent.RefreshTooEarly(c, KEY, TIME, TIME.multipliedBy(2)));
    for (LoadEnd end : LoadEnd.values()) {
      all.add(new CacheEvent.LoadStarted(c, KEY, end != LoadEnd.FAILED));
      all.add(new CacheEvent.LoadEnded(c, KEY, TIME, end));
    }
    for (FillOutcome outcome : FillOutcome.values()) {
      all.add(new CacheEvent.FillEnded(c, KEY, outcome));
    }
    all.add(new CacheEvent.FillEnded(c, KEY, null));
    for (WaitEnd end : WaitEnd.values()) {
      all.add(new CacheEvent.WaitEnded(c, KEY, TIME, end));
    }
    for (Degraded.How how : Degraded.How.values()) {
      all.add(new CacheEvent.Degraded(c, KEY, how));
    }
    all.add(new CacheEvent.LoadRefused(c, KEY));
    all.add(new CacheEvent.OutageServed(c, KEY));
    all.add(new CacheEvent.BreakerChanged(c, KEY, true));
    all.add(new CacheEvent.NotStored(c, KEY, "too large: 17 bytes"));
    all.add(new CacheEvent.Invalidated(c, KEY, true));
    all.add(new CacheEvent.Invalidated(c, KEY, false));
    all.add(new CacheEvent.TagInvalidated(c, KEY, "red"));
    all.add(new CacheEvent.TagInvalidated(c, KEY, null));
    all.add(new CacheEvent.StoreFailed(c, KEY, "GET", error(false)));
    all.add(new CacheEvent.StoreFailed(c, KEY, "FILL", error(true)));
    all.add(new CacheEvent.StoreFailed(c, KEY, "NEVER_HEARD_OF", error(false)));
    return all;
  }

  static List<LeaseEvent> ofLease(String name) {
    List<LeaseEvent> all = new ArrayList<>();
    all.add(new LeaseEvent.Acquired(name, 1, TIME));
    all.add(new LeaseEvent.Refused(name, TIME));
    all.add(new LeaseEvent.Extended(name, 1));
    for (LeaseEvent.LossReason reason : LeaseEvent.LossReason.values()) {
      all.add(new LeaseEvent.Lost(name, 1, reason));
    }
    for (LeaseOutcome outcome : LeaseOutcome.values()) {
      all.add(new LeaseEvent.Acquired(name, 1, TIME));
      all.add(new LeaseEvent.Ended(name, 1, outcome, TIME, TIME.negated()));
    }
    all.add(new LeaseEvent.StoreFailed(name, "ACQUIRE", error(true)));
    all.add(new LeaseEvent.StoreFailed(name, "NEVER_HEARD_OF", error(false)));
    all.add(new LeaseEvent.CleanedUp(name, "owner", true));
    all.add(new LeaseEvent.CleanedUp(name, "owner", false));
    all.add(new LeaseEvent.CleanedUp(name, "owner", null));
    return all;
  }

  /** Sends all of them. */
  static void sendTo(PaddockMetrics metrics) {
    ofCache("posts").forEach(metrics::onEvent);
    ofLease(LEASE).forEach(metrics::onEvent);
  }
}
