/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.ExtensionOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseInspection;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A lease in the hands of several threads, under every schedule that the model checker tries. */
final class HeldLeaseLincheckTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @Test
  void close_fromTwoThreads_releasesOnceWithOneOutcome() {
    Interleavings.all(
        () -> {
          Store store = new Store();
          HeldLease lease = lease(store);
          LeaseOutcome[] outcomes = new LeaseOutcome[2];
          Interleavings.atOnce(
              () -> outcomes[0] = release(lease), () -> outcomes[1] = release(lease));
          Interleavings.check(store.releases.get() == 1, "released " + store.releases + " times");
          Interleavings.check(
              outcomes[0] == LeaseOutcome.RELEASED && outcomes[1] == LeaseOutcome.RELEASED,
              "outcomes " + outcomes[0] + " and " + outcomes[1]);
        });
  }

  @Test
  void close_besideAnExtension_leavesTheLeaseInvalid() {
    Interleavings.all(
        () -> {
          Store store = new Store();
          HeldLease lease = lease(store);
          ExtensionOutcome[] outcome = new ExtensionOutcome[1];
          Interleavings.atOnce(
              () -> outcome[0] = lease.extendAsync().join(),
              () -> {
                release(lease);
                Interleavings.check(!lease.isValid(), "valid after it was closed");
              });
          Interleavings.check(!lease.isValid(), "valid after it was closed");
          Interleavings.check(store.releases.get() == 1, "released " + store.releases + " times");
          Interleavings.check(
              outcome[0] == ExtensionOutcome.EXTENDED || outcome[0] == ExtensionOutcome.LOST,
              "outcome " + outcome[0]);
        });
  }

  @Test
  void loss_besideACloseAndAnExtension_isToldAtMostOnce() {
    Interleavings.all(
        () -> {
          Store store = new Store();
          HeldLease lease = lease(store);
          AtomicInteger told = new AtomicInteger();
          lease.onLost(told::incrementAndGet);
          store.gone = true;
          LeaseOutcome[] outcome = new LeaseOutcome[1];
          ExtensionOutcome[] extension = new ExtensionOutcome[1];
          Interleavings.atOnce(
              () -> lease.lose(LeaseEvent.LossReason.TAKEN),
              () -> outcome[0] = release(lease),
              () -> extension[0] = lease.extendAsync().join());
          Interleavings.check(told.get() <= 1, "told " + told + " times");
          Interleavings.check(store.releases.get() <= 1, "released " + store.releases + " times");
          Interleavings.check(outcome[0] == LeaseOutcome.LOST, "outcome " + outcome[0]);
          Interleavings.check(extension[0] == ExtensionOutcome.LOST, "extension " + extension[0]);
          Interleavings.check(!lease.isValid(), "valid after it was closed");
          Interleavings.check(
              lease.outcome().orElseThrow() == LeaseOutcome.LOST, "outcome " + lease.outcome());
        });
  }

  @Test
  void callback_addedDuringTheLoss_runsOnce() {
    Interleavings.all(
        () -> {
          HeldLease lease = lease(new Store());
          AtomicInteger told = new AtomicInteger();
          Interleavings.atOnce(
              () -> lease.lose(LeaseEvent.LossReason.TAKEN),
              () -> lease.onLost(told::incrementAndGet));
          Interleavings.check(told.get() == 1, "told " + told + " times");
        });
  }

  private static LeaseOutcome release(Lease lease) {
    return lease.releaseAsync().join();
  }

  private static HeldLease lease(Store store) {
    LeaseEngine engine =
        new LeaseEngine(new StillEnvironment(), store, new StoreOptions(LONG, LONG), List.of());
    return (HeldLease) engine.tryAcquireAsync("job", LeaseOptions.defaults()).join().orElseThrow();
  }

  /** Answers at once. */
  private static final class Store implements LeaseStore {
    final AtomicInteger releases = new AtomicInteger();
    volatile boolean gone;

    @Override
    public String kind() {
      return "test";
    }

    @Override
    public Duration leaseTimeMin() {
      return Duration.ofMillis(1);
    }

    @Override
    public Duration leaseTimeMax() {
      return Duration.ofDays(1);
    }

    @Override
    public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
      return CompletableFuture.completedFuture(
          new LeaseReply(LeaseReply.Status.GRANTED, 1, request.leaseMillis()));
    }

    @Override
    public CompletionStage<LeaseExtension> extend(
        String name, String owner, long token, long leaseMillis) {
      return CompletableFuture.completedFuture(
          gone ? LeaseExtension.LOST : new LeaseExtension(true, leaseMillis));
    }

    @Override
    public CompletionStage<Boolean> release(String name, String owner) {
      releases.incrementAndGet();
      return CompletableFuture.completedFuture(!gone);
    }

    @Override
    public HintSubscription subscribe(String name, Runnable onHint) {
      throw new UnsupportedOperationException("nobody waits");
    }

    @Override
    public CompletionStage<LeaseInspection> inspect(String name) {
      throw new UnsupportedOperationException("nobody inspects");
    }

    @Override
    public void close() {}
  }
}
