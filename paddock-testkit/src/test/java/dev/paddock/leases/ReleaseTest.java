/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static dev.paddock.leases.LeaseFleet.TEN_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOutcome;
import dev.paddock.leases.LeaseFleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Giving a lease back. */
final class ReleaseTest {
  private final LeaseFleet fleet = new LeaseFleet();
  private final Node a = fleet.node("a");
  private final Node b = fleet.node("b");

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void release_twice_hasOneOutcomeAndOneCommand() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.redis.resetCommandCounts();

    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);

    assertThat(lease.outcome()).contains(LeaseOutcome.RELEASED);
    assertThat(lease.isValid()).isFalse();
    assertThat(fleet.redis.commandCounts().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(1);
    assertThat(a.events(LeaseEvent.Ended.class))
        .singleElement()
        .matches(
            event -> event.outcome() == LeaseOutcome.RELEASED && event.margin().toSeconds() > 8);
  }

  @Test
  void release_afterAnotherHasIt_leavesTheOthersAndSaysExpired() {
    Lease old = a.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(11));
    Lease next = b.acquire("job", TEN_SECONDS);

    assertThat(a.release(old)).isEqualTo(LeaseOutcome.EXPIRED);

    assertThat(fleet.leaseKeys()).hasSize(1);
    assertThat(b.release(next)).isEqualTo(LeaseOutcome.RELEASED);
  }

  @Test
  void release_afterItsValidityThoughTheStoreStillHasIt_isExpired() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    a.clock.stepWall(Duration.ofSeconds(11));

    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.EXPIRED);
    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void release_withoutAnswer_isUnknownAndRepeatedUntilItIsAnswered() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.fate("LEASE_RELEASE", RequestFate.LOST_REQUEST);
    var releasing = lease.releaseAsync();
    fleet.advance(Duration.ofMillis(1_100));
    assertThat(releasing.join()).isEqualTo(LeaseOutcome.UNKNOWN);
    assertThat(fleet.leaseKeys()).hasSize(1);

    fleet.allDelivered();
    fleet.advance(Duration.ofSeconds(2));

    assertThat(fleet.leaseKeys()).isEmpty();
    assertThat(a.events(LeaseEvent.CleanedUp.class)).hasSize(1);
  }

  @Test
  void release_underOom_isReleased() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.redis.setOutOfMemory(true);

    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);
    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void release_replyLost_isUnknownAndTheRepeatFindsItGone() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.fate("LEASE_RELEASE", RequestFate.LOST_REPLY);
    var releasing = lease.releaseAsync();
    fleet.advance(Duration.ofMillis(1_010));
    fleet.allDelivered();
    assertThat(releasing.join()).isEqualTo(LeaseOutcome.UNKNOWN);
    Lease next = b.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(2));

    assertThat(next.isValid()).isTrue();
    assertThat(fleet.leaseKeys()).hasSize(1);
  }

  @Test
  void releasing_doesNotWakeAnybodyWhereNobodyWaits() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    a.release(lease);

    assertThat(fleet.commands("PUBLISH")).isZero();
  }
}
