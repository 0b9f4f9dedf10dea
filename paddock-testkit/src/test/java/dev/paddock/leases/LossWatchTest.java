/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseInspection;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.LossWatch;
import dev.paddock.testkit.VirtualEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A store that hears of losses by itself, as one whose leases hang on a session does. */
final class LossWatchTest {
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults().leaseTime(Duration.ofSeconds(10));

  private final VirtualEnvironment env = new VirtualEnvironment(1);
  private final Store store = new Store();
  private final List<LeaseEvent> events = new ArrayList<>();
  private final LeaseLock lock =
      LeaseLock.newBuilder()
          .store((environment, options) -> store)
          .environment(env)
          .listener(events::add)
          .build();

  private Lease acquire(LeaseOptions options) {
    return env.await(lock.tryAcquireAsync("job", options), Duration.ofSeconds(5)).orElseThrow();
  }

  private Consumer<LossWatch.Signal> signals() {
    assertThat(store.onSignal).isNotNull();
    return java.util.Objects.requireNonNull(store.onSignal);
  }

  @Test
  void lost_isToldAtOnce() {
    Lease lease = acquire(OPTIONS);
    List<String> told = new ArrayList<>();
    lease.onLost(() -> told.add("lost"));

    signals().accept(LossWatch.Signal.LOST);
    env.run();

    assertThat(told).containsExactly("lost");
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.outcome()).contains(LeaseOutcome.LOST);
    assertThat(store.onSignal).as("the watch has ended").isNull();
  }

  @Test
  void suspect_asksTheStoreAtOnceAndNothingIsLostIfItStillKnowsTheLease() {
    Lease lease = acquire(OPTIONS);

    signals().accept(LossWatch.Signal.SUSPECT);
    env.run();

    assertThat(store.extensions).hasSize(1);
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void suspect_theStoreKnowsItNoMore_isLost() {
    Lease lease = acquire(OPTIONS);
    store.extension = LeaseExtension.LOST;

    signals().accept(LossWatch.Signal.SUSPECT);
    env.run();

    assertThat(lease.isValid()).isFalse();
    assertThat(events)
        .filteredOn(LeaseEvent.Lost.class::isInstance)
        .extracting(event -> ((LeaseEvent.Lost) event).reason())
        .containsExactly(LeaseEvent.LossReason.TAKEN);
  }

  @Test
  void suspect_leaseThatIsNotRenewed_isNotProlonged() {
    Lease lease = acquire(OPTIONS);
    env.advance(Duration.ofSeconds(8));

    signals().accept(LossWatch.Signal.SUSPECT);
    env.run();

    assertThat(store.extensions).singleElement().matches(millis -> millis <= 2_000);
    assertThat(lease.remaining()).isLessThanOrEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void suspect_leaseThatIsRenewed_isNotProlongedPastItsLongestHoldTime() {
    acquire(OPTIONS.renewFor(Duration.ofSeconds(12)));
    env.advance(Duration.ofSeconds(9));
    store.extensions.clear();

    signals().accept(LossWatch.Signal.SUSPECT);
    env.run();

    assertThat(store.extensions).singleElement().matches(millis -> millis <= 3_000);
  }

  @Test
  void release_endsTheWatch_andALateSignalChangesNothing() {
    Lease lease = acquire(OPTIONS);
    Consumer<LossWatch.Signal> signals = signals();
    assertThat(env.await(lease.releaseAsync(), Duration.ofSeconds(5)))
        .isEqualTo(LeaseOutcome.RELEASED);

    assertThat(store.onSignal).isNull();
    signals.accept(LossWatch.Signal.LOST);
    signals.accept(LossWatch.Signal.SUSPECT);
    env.run();

    assertThat(lease.outcome()).contains(LeaseOutcome.RELEASED);
    assertThat(store.extensions).isEmpty();
    assertThat(events).noneMatch(LeaseEvent.Lost.class::isInstance);
  }

  /** Grants everything, and is told what to say of extensions. */
  private static final class Store implements LeaseStore, LossWatch {
    final List<Long> extensions = new ArrayList<>();
    @Nullable LeaseExtension extension;
    @Nullable Consumer<Signal> onSignal;

    @Override
    public String kind() {
      return "stub";
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
    public Runnable watch(String name, String owner, Consumer<Signal> signals) {
      onSignal = signals;
      return () -> onSignal = null;
    }

    @Override
    public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
      return CompletableFuture.completedFuture(
          new LeaseReply(LeaseReply.Status.GRANTED, 1, request.leaseMillis()));
    }

    @Override
    public CompletionStage<LeaseExtension> extend(
        String name, String owner, long token, long leaseMillis) {
      extensions.add(leaseMillis);
      return CompletableFuture.completedFuture(
          extension == null ? new LeaseExtension(true, leaseMillis) : extension);
    }

    @Override
    public CompletionStage<Boolean> release(String name, String owner) {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public HintSubscription subscribe(String name, Runnable onHint) {
      throw new AssertionError("nobody waits");
    }

    @Override
    public CompletionStage<LeaseInspection> inspect(String name) {
      throw new AssertionError("nobody asks");
    }

    @Override
    public void close() {}
  }
}
