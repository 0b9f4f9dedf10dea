/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static dev.paddock.leases.LeaseFleet.TEN_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOptions;
import dev.paddock.PaddockClosedException;
import dev.paddock.StoreException;
import dev.paddock.leases.LeaseFleet.Attempt;
import dev.paddock.leases.LeaseFleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiting for a lease that another holds. */
final class WaitingTest {
  private static final LeaseOptions PATIENT = TEN_SECONDS.waitTime(Duration.ofSeconds(60));

  private final LeaseFleet fleet = new LeaseFleet();
  private final Node a = fleet.node("a");
  private final Node b = fleet.node("b");

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void waiter_isWokenByTheReleaseAndNotByAPoll() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(500));
    assertThat(waiter.isDone()).isFalse();

    a.release(lease);
    fleet.advance(Duration.ofMillis(5));

    assertThat(waiter.lease().isValid()).isTrue();
    assertThat(waiter.took()).isLessThan(Duration.ofMillis(510));
  }

  @Test
  void waiter_freeLease_costsOneCommand() {
    fleet.redis.resetCommandCounts();

    b.acquire("job", PATIENT);

    assertThat(fleet.redis.commandCounts().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(1);
  }

  @Test
  void waiter_holderDies_acquiresWhenTheLeaseRunsOut() {
    a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(10_100));

    assertThat(waiter.lease().isValid()).isTrue();
    assertThat(waiter.took()).isBetween(Duration.ofMillis(9_900), Duration.ofMillis(10_050));
  }

  @Test
  void waiter_noHints_isServedByPolls() {
    fleet.redis.setChannelsDenied(true);
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(500));
    a.release(lease);
    fleet.advance(Duration.ofMillis(200));

    assertThat(waiter.lease().isValid()).isTrue();
    fleet.redis.setChannelsDenied(false);
  }

  @Test
  void waiter_hintLost_isServedByThePollUnderneath() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    // The hint goes to nobody, and nothing tells that.
    fleet.redis.setChannelsDenied(true);
    a.release(lease);
    fleet.advance(Duration.ofMillis(1_600));

    assertThat(waiter.lease().isValid()).isTrue();
    fleet.redis.setChannelsDenied(false);
  }

  @Test
  void waiter_releaseBetweenItsAttemptAndItsSubscription_isNotMissed() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b") && request.runs("LEASE_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(100))
                : RequestFate.DELIVERED);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(50));
    // The attempt was refused, and its answer is still on the way.
    a.release(lease);
    fleet.advance(Duration.ofMillis(400));

    // The attempt after the subscription finds it, and no poll has to.
    assertThat(waiter.took()).isLessThanOrEqualTo(Duration.ofMillis(205));
    assertThat(waiter.lease().isValid()).isTrue();
  }

  @Test
  void waiter_hintWhileItsAttemptIsUnderWay_asksAgainAtOnce() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(200))
                : RequestFate.DELIVERED);
    long before = fleet.commands("EVALSHA");
    fleet.env.runUntil(() -> fleet.commands("EVALSHA") > before, Duration.ofSeconds(5));
    // The poll was refused, and its answer is on the way when the hint comes.
    a.release(lease);
    fleet.advance(Duration.ofMillis(450));

    assertThat(waiter.lease().isValid()).isTrue();
  }

  @Test
  void waitTime_over_isRefusedAndLeavesNothingBehind() {
    a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", TEN_SECONDS.waitTime(Duration.ofSeconds(2)));
    fleet.advance(Duration.ofMillis(2_010));

    assertThat(waiter.refused()).isTrue();
    assertThat(waiter.took()).isBetween(Duration.ofSeconds(2), Duration.ofMillis(2_010));
    assertThat(b.events(LeaseEvent.Refused.class)).hasSize(1);
    assertThat(fleet.redis.subscriptionCount()).isZero();
  }

  @Test
  void waitTime_storeGone_isAFailureInTimeAndNotLater() {
    a.acquire("job", TEN_SECONDS);
    fleet.redis.setInterceptor(request -> RequestFate.LOST_REQUEST);
    Attempt waiter = b.begin("job", TEN_SECONDS.waitTime(Duration.ofSeconds(5)));
    fleet.advance(Duration.ofSeconds(5).plus(LeaseFleet.COMMAND_TIMEOUT).plusMillis(10));

    assertThat(waiter.error()).isInstanceOf(StoreException.class);
  }

  @Test
  void waitTime_storeComesBack_isServed() {
    fleet.redis.setInterceptor(request -> RequestFate.NOT_SENT);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofSeconds(5));
    assertThat(waiter.isDone()).isFalse();
    fleet.allDelivered();
    fleet.advance(Duration.ofSeconds(2));

    assertThat(waiter.lease().isValid()).isTrue();
  }

  @Test
  void waiters_ofOneProcess_comeInTheirOrder() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      int number = i;
      var unused =
          b.begin("job", PATIENT)
              .future
              .thenAccept(
                  got -> {
                    order.add(number);
                    giveBack(got.orElseThrow());
                  });
    }
    fleet.advance(Duration.ofMillis(100));
    a.release(lease);
    fleet.advance(Duration.ofSeconds(1));

    assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void waiters_manyInFourProcesses_costAFewCommandsEach() {
    List<Node> nodes = List.of(a, b, fleet.node("c"), fleet.node("d"));
    List<Long> tokens = new ArrayList<>();
    fleet.redis.resetCommandCounts();
    int holds = 0;
    for (Node node : nodes) {
      for (int i = 0; i < 16; i++) {
        holds++;
        var unused =
            node.begin("job", PATIENT)
                .future
                .thenAccept(
                    got -> {
                      Lease lease = got.orElseThrow();
                      tokens.add(lease.fencingToken());
                      fleet.env.schedule(() -> giveBack(lease), 1_000_000L);
                    });
      }
    }
    fleet.advance(Duration.ofSeconds(5));

    assertThat(tokens).hasSize(holds).isSorted().doesNotHaveDuplicates();
    long scripts = fleet.commands("EVALSHA") + fleet.commands("EVAL");
    assertThat(scripts).isLessThanOrEqualTo(6L * holds);
  }

  @Test
  void waiters_ofFourProcesses_takeTurnsAFewHoldsEach() {
    List<Node> nodes = List.of(a, b, fleet.node("c"), fleet.node("d"));
    List<Node> holders = new ArrayList<>();
    for (Node node : nodes) {
      for (int i = 0; i < 12; i++) {
        var unused =
            node.begin("job", PATIENT)
                .future
                .thenAccept(
                    got -> {
                      holders.add(node);
                      fleet.env.schedule(() -> giveBack(got.orElseThrow()), 5_000_000L);
                    });
      }
    }
    fleet.advance(Duration.ofSeconds(5));

    assertThat(holders).hasSize(48);
    List<Integer> turns = new ArrayList<>();
    for (int i = 0; i < 36; i++) {
      if (i > 0 && holders.get(i) == holders.get(i - 1)) {
        turns.set(turns.size() - 1, turns.get(turns.size() - 1) + 1);
      } else {
        turns.add(1);
      }
    }
    assertThat(turns).allMatch(holds -> holds <= 3);
    for (Node node : nodes) {
      // All have waiters until far beyond this point.
      assertThat(holders.subList(0, 24)).filteredOn(holder -> holder == node).hasSize(6);
    }
  }

  @Test
  void waiters_oneInEachProcess_areServedInTheirOrderAtTwoCommandsEach() {
    List<Node> nodes = List.of(b, fleet.node("c"), fleet.node("d"), fleet.node("e"));
    Lease lease = a.acquire("job", TEN_SECONDS);
    List<Node> holders = new ArrayList<>();
    for (Node node : nodes) {
      var unused =
          node.begin("job", PATIENT)
              .future
              .thenAccept(
                  got -> {
                    holders.add(node);
                    fleet.env.schedule(() -> giveBack(got.orElseThrow()), 1_000_000L);
                  });
      fleet.advance(Duration.ofMillis(20));
    }
    fleet.redis.resetCommandCounts();
    a.release(lease);
    fleet.advance(Duration.ofMillis(19));

    assertThat(holders).containsExactlyElementsOf(nodes);
    // The release that began it, then an acquire and a release of each.
    assertThat(fleet.commands("EVALSHA")).isEqualTo(9);
  }

  @Test
  void waiter_firstInTheLineIsGone_theNextAsksSoon() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(20));
    Attempt second = fleet.node("c").begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(20));
    Attempt third = fleet.node("d").begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(20));
    fleet.redis.setInterceptor(
        request -> request.client().equals("b") ? RequestFate.LOST_REQUEST : RequestFate.DELIVERED);
    a.release(lease);
    fleet.advance(Duration.ofMillis(25));
    assertThat(second.lease().isValid()).isTrue();

    giveBack(second.lease());
    fleet.advance(Duration.ofMillis(10));
    assertThat(third.lease().isValid()).isTrue();
  }

  @Test
  void waiter_overtakenWhenItsTurnHadCome_staysInFrontWithThoseBehindIt() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt first = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(20));
    Attempt second = fleet.node("c").begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(20));
    fleet.redis.setInterceptor(
        request ->
            request.client().equals("b")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(5), Duration.ZERO)
                : RequestFate.DELIVERED);
    Node fast = fleet.node("d");
    giveBack(lease);
    fleet.advance(Duration.ofMillis(2));
    Lease overtaking = fast.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(15));
    assertThat(first.isDone()).isFalse();

    fast.release(overtaking);
    fleet.advance(Duration.ofMillis(10));
    b.release(first.lease());
    fleet.advance(Duration.ofMillis(10));
    assertThat(second.lease().isValid()).isTrue();
  }

  @Test
  void waiters_ofTheReleasingProcess_needNoHint() {
    Lease lease = b.acquire("job", TEN_SECONDS);
    Attempt first = b.begin("job", PATIENT);
    Attempt second = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    fleet.redis.setChannelsDenied(true);
    giveBack(lease);
    fleet.advance(Duration.ofMillis(5));

    assertThat(first.lease().isValid()).isTrue();
    assertThat(second.isDone()).isFalse();
    fleet.redis.setChannelsDenied(false);
  }

  @Test
  void waiter_joinsWhileTheLastAttemptIsGranted_isHintedNonetheless() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt first = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(50)));
    a.release(lease);
    fleet.advance(Duration.ofMillis(20));
    // The grant that is on its way was asked for when nobody else waited.
    Attempt second = b.begin("job", PATIENT);
    fleet.allDelivered();
    fleet.advance(Duration.ofMillis(100));

    b.release(first.lease());
    fleet.advance(Duration.ofMillis(10));
    assertThat(second.lease().isValid()).isTrue();
  }

  @Test
  void waiter_cancelled_leavesItsPlaceToTheNext() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt first = b.begin("job", PATIENT);
    Attempt second = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    first.future.cancel(false);
    fleet.advance(Duration.ofMillis(100));
    a.release(lease);
    fleet.advance(Duration.ofMillis(100));

    assertThat(second.lease().isValid()).isTrue();
  }

  @Test
  void waiter_cancelledWhileItIsGranted_givesTheLeaseToTheNext() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    Attempt first = b.begin("job", PATIENT);
    Attempt second = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(50)));
    a.release(lease);
    fleet.advance(Duration.ofMillis(20));
    first.future.cancel(false);
    fleet.allDelivered();
    fleet.advance(Duration.ofMillis(300));

    assertThat(second.lease().isValid()).isTrue();
  }

  @Test
  void close_endsTheWait() {
    a.acquire("job", TEN_SECONDS);
    Attempt waiter = b.begin("job", PATIENT);
    fleet.advance(Duration.ofMillis(100));
    b.lock.close();
    fleet.advance(Duration.ofMillis(1));

    assertThat(waiter.error()).isInstanceOf(PaddockClosedException.class);
  }

  @Test
  void crashedHolderAmongManyWaiters_noWaiterIsLeftBehind() {
    a.acquire("job", TEN_SECONDS);
    List<Attempt> waiters = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      waiters.add(b.begin("job", PATIENT));
    }
    // None gives it back: each holder's lease has to run out.
    fleet.advance(Duration.ofSeconds(56));

    assertThat(waiters).allMatch(Attempt::isDone);
    assertThat(waiters).allMatch(waiter -> waiter.lease().fencingToken() > 0);
  }

  private static void giveBack(Lease lease) {
    var unused = lease.releaseAsync();
  }
}
