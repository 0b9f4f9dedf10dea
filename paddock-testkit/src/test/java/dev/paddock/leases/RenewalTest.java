/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static dev.paddock.leases.LeaseFleet.TEN_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.ExtensionOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseEvent.LossReason;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.leases.LeaseFleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Renewal, its end, and how a loss is told. */
final class RenewalTest {
  private static final LeaseOptions RENEWED = TEN_SECONDS.renewFor(Duration.ofMinutes(2));

  private final LeaseFleet fleet = new LeaseFleet();
  private final Node a = fleet.node("a");
  private final Node b = fleet.node("b");
  private final List<String> told = new ArrayList<>();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  private void noteLoss(Lease lease) {
    lease.onLost(() -> told.add(lease.name() + (lease.isValid() ? " still valid" : " over")));
  }

  @Test
  void unrenewed_isToldAsLostBeforeItsValidityEndsAndInvalidAfter() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    noteLoss(lease);

    fleet.advance(Duration.ofMillis(9_750));
    assertThat(told).isEmpty();
    assertThat(lease.isValid()).isTrue();
    fleet.advance(Duration.ofMillis(100));
    assertThat(told).containsExactly("job still valid");
    fleet.advance(Duration.ofMillis(100));

    assertThat(lease.isValid()).isFalse();
    assertThat(lease.remaining()).isZero();
    assertThat(lease.outcome()).contains(LeaseOutcome.EXPIRED);
    assertThat(a.events(LeaseEvent.Lost.class))
        .singleElement()
        .matches(event -> event.reason() == LossReason.RAN_OUT);
    // The server keeps it a little longer than its holder believes.
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isEmpty();
    fleet.advance(Duration.ofMillis(200));
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isPresent();
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.EXPIRED);
  }

  @Test
  void renewed_outlivesItsLeaseTimeAndKeepsItsToken() {
    Lease lease = a.acquire("job", RENEWED);
    long token = lease.fencingToken();
    for (int i = 0; i < 30; i++) {
      fleet.advance(Duration.ofSeconds(3));
      assertThat(lease.isValid()).isTrue();
      assertThat(b.tryAcquire("job", TEN_SECONDS)).isEmpty();
    }
    assertThat(lease.fencingToken()).isEqualTo(token);
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);
    assertThat(a.events(LeaseEvent.Extended.class)).hasSizeBetween(25, 32);
  }

  @Test
  void stuckWorker_isRenewedForTheLongestHoldTimeAndNoLonger() {
    Lease lease = a.acquire("job", RENEWED);
    noteLoss(lease);

    fleet.advance(Duration.ofSeconds(119));
    assertThat(lease.isValid()).isTrue();
    fleet.advance(Duration.ofSeconds(1));

    assertThat(lease.isValid()).isFalse();
    assertThat(told).containsExactly("job still valid");
    assertThat(a.events(LeaseEvent.Lost.class))
        .singleElement()
        .matches(event -> event.reason() == LossReason.HELD_TOO_LONG);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isPresent();
  }

  @Test
  void failedRenewals_areRetriedWhileTheLeaseIsValid() {
    Lease lease = a.acquire("job", RENEWED);
    noteLoss(lease);
    fleet.fate("LEASE_EXTEND", RequestFate.NOT_SENT);
    fleet.advance(Duration.ofSeconds(8));
    assertThat(lease.isValid()).isTrue();

    fleet.allDelivered();
    fleet.advance(Duration.ofSeconds(20));

    assertThat(lease.isValid()).isTrue();
    assertThat(told).isEmpty();
  }

  @Test
  void renewalError_ofOneLease_doesNotHarmTheNextOfThatName() {
    Lease first = a.acquire("job", RENEWED);
    fleet.fate("LEASE_EXTEND", RequestFate.NOT_SENT);
    fleet.advance(Duration.ofSeconds(15));
    assertThat(first.isValid()).isFalse();
    a.release(first);
    fleet.allDelivered();

    Lease second = a.acquire("job", RENEWED);
    fleet.advance(Duration.ofSeconds(60));

    assertThat(second.isValid()).isTrue();
  }

  @Test
  void silentStore_endsTheValidityAndIsToldBefore() {
    Lease lease = a.acquire("job", RENEWED);
    noteLoss(lease);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);

    fleet.advance(Duration.ofMillis(9_898));
    assertThat(told).containsExactly("job still valid");
    fleet.advance(Duration.ofSeconds(1));

    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void takenLease_isToldAtTheNextRenewal() {
    Lease lease = a.acquire("job", RENEWED);
    noteLoss(lease);
    fleet.redis.flushAll();
    fleet.advance(Duration.ofSeconds(4));

    assertThat(told).containsExactly("job over");
    assertThat(lease.isValid()).isFalse();
    assertThat(lease.outcome()).contains(LeaseOutcome.LOST);
    assertThat(a.events(LeaseEvent.Lost.class))
        .singleElement()
        .matches(event -> event.reason() == LossReason.TAKEN);
    fleet.redis.resetCommandCounts();
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.LOST);
    assertThat(fleet.redis.commandCounts()).isEmpty();
  }

  @Test
  void takenLease_withASuccessor_leavesTheSuccessorsAlone() {
    Lease old = a.acquire("job", TEN_SECONDS);
    fleet.redis.flushAll();
    Lease next = b.acquire("job", TEN_SECONDS);

    assertThat(fleet.env.await(old.extendAsync(), Duration.ofSeconds(5)))
        .isEqualTo(ExtensionOutcome.LOST);
    assertThat(a.release(old)).isEqualTo(LeaseOutcome.LOST);
    assertThat(fleet.env.await(next.extendAsync(), Duration.ofSeconds(5)))
        .isEqualTo(ExtensionOutcome.EXTENDED);
  }

  @Test
  void released_isNeverRenewedAgain() {
    Lease lease = a.acquire("job", RENEWED);
    fleet.fate(
        "LEASE_EXTEND",
        RequestFate.DELIVERED.delayed(Duration.ofMillis(500), Duration.ofMillis(500)));
    // A renewal is under way when the lease is given back.
    fleet.advance(Duration.ofMillis(3_400));
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);
    Lease next = b.acquire("job", TEN_SECONDS);
    int extended = a.events(LeaseEvent.Extended.class).size();
    fleet.advance(Duration.ofSeconds(5));

    assertThat(a.events(LeaseEvent.Extended.class)).hasSize(extended);
    assertThat(lease.isValid()).isFalse();
    assertThat(next.isValid()).isTrue();
    assertThat(a.events(LeaseEvent.Lost.class)).isEmpty();
  }

  @Test
  void released_leavesNoTimerForTheRestOfItsTime() {
    Lease lease =
        a.acquire(
            "job",
            LeaseOptions.defaults().leaseTime(Duration.ofHours(10)).renewFor(Duration.ofHours(20)));
    a.release(lease);
    // Long enough for what each command and the estimate of the server's clock take.
    fleet.advance(Duration.ofMinutes(2));

    assertThat(fleet.env.pendingTimers()).isZero();
  }

  @Test
  void extensionThatComesAfterTheEnd_doesNotReviveTheLease() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.fate(
        "LEASE_EXTEND", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(900)));
    fleet.advance(Duration.ofMillis(9_300));
    var extending = lease.extendAsync();
    fleet.advance(Duration.ofMillis(700));
    assertThat(lease.isValid()).isFalse();
    fleet.advance(Duration.ofSeconds(1));

    assertThat(extending.join()).isEqualTo(ExtensionOutcome.LOST);
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void extend_validLease_lastsItsFullLengthAgain() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(8));
    assertThat(fleet.env.await(lease.extendAsync(), Duration.ofSeconds(5)))
        .isEqualTo(ExtensionOutcome.EXTENDED);
    fleet.advance(Duration.ofSeconds(9));

    assertThat(lease.isValid()).isTrue();
    assertThat(lease.remaining()).isBetween(Duration.ofMillis(800), Duration.ofSeconds(1));
  }

  @Test
  void extend_withoutAnswer_isUnknownAndTheOldValidityCounts() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.fate("LEASE_EXTEND", RequestFate.LOST_REPLY);
    var extending = lease.extendAsync();
    fleet.advance(Duration.ofSeconds(2));
    assertThat(extending.join()).isEqualTo(ExtensionOutcome.UNKNOWN);
    assertThat(lease.isValid()).isTrue();
    fleet.advance(Duration.ofSeconds(8));
    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void wallClockJump_endsTheValidityAlthoughTheMonotonicClockStoodStill() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    a.clock.stepWall(Duration.ofSeconds(11));

    assertThat(lease.isValid()).isFalse();
    a.clock.stepWall(Duration.ofSeconds(-11));
    assertThat(lease.isValid()).as("it never becomes valid again").isFalse();
  }

  @Test
  void wallClockJump_whileItIsAcquired_bringsTheNewsOfItsLossForwardToo() {
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(100)));
    var attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(50));
    a.clock.stepWall(Duration.ofSeconds(5));
    fleet.advance(Duration.ofMillis(100));
    fleet.allDelivered();
    Lease lease = attempt.lease();
    noteLoss(lease);
    Duration left = lease.remaining();
    assertThat(left).isLessThan(Duration.ofSeconds(5));

    fleet.advance(left);
    assertThat(told).containsExactly("job still valid");
  }

  @Test
  void wallClockSetBack_doesNotStretchTheValidity() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    a.clock.stepWall(Duration.ofHours(-1));
    fleet.advance(Duration.ofSeconds(10));

    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void onLost_ofALostLease_runsAtOnceAndOfAClosedOneNever() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(11));
    noteLoss(lease);
    fleet.advance(Duration.ZERO);
    assertThat(told).containsExactly("job over");
    a.release(lease);
    noteLoss(lease);
    fleet.advance(Duration.ofSeconds(1));
    assertThat(told).hasSize(1);
  }

  @Test
  void onLost_ofTheOptions_takesTheLease() {
    List<Lease> lost = new ArrayList<>();
    Lease lease = a.acquire("job", TEN_SECONDS.onLost(lost::add));
    fleet.advance(Duration.ofSeconds(11));

    assertThat(lost).containsExactly(lease);
  }

  @Test
  void onLost_callbackThatThrows_doesNotKeepTheOthersFromRunning() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    noteLoss(lease);
    lease.onLost(() -> told.add("second"));
    fleet.advance(Duration.ofSeconds(11));

    assertThat(told).containsExactly("job still valid", "second");
  }
}
