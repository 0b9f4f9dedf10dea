/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.leases;

import static dev.paddock.leases.LeaseFleet.TEN_SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.Lease;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.PaddockClosedException;
import dev.paddock.StoreException;
import dev.paddock.leases.LeaseFleet.Attempt;
import dev.paddock.leases.LeaseFleet.Node;
import dev.paddock.testkit.RequestFate;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One attempt: granted, refused, unknown; and what an unknown one leaves. */
final class AcquireTest {
  private final LeaseFleet fleet = new LeaseFleet();
  private final Node a = fleet.node("a");
  private final Node b = fleet.node("b");

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  @Test
  void tryAcquire_freeLease_costsOneCommandAndReleaseAnother() {
    fleet.redis.resetCommandCounts();

    Lease lease = a.acquire("job", TEN_SECONDS);
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);

    assertThat(fleet.redis.commandCounts().values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(2);
  }

  @Test
  void tryAcquire_heldByAnother_isEmptyAtOnce() {
    Lease lease = a.acquire("job", TEN_SECONDS);

    Attempt second = b.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(10));

    assertThat(second.refused()).isTrue();
    assertThat(b.events(LeaseEvent.Refused.class)).hasSize(1);
    assertThat(lease.isValid()).isTrue();
  }

  @Test
  void tryAcquire_afterRelease_hasAGreaterTokenAndAnotherId() {
    Lease first = a.acquire("job", TEN_SECONDS);
    a.release(first);
    Lease second = b.acquire("job", TEN_SECONDS);

    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
    assertThat(second.uniqueId()).isNotEqualTo(first.uniqueId());
    // Not the new holder's.
    assertThat(first.fencingToken()).isLessThan(second.fencingToken());
  }

  @Test
  void token_afterFlushAndClockStep_growsWhereTheClockAllows() {
    Lease first = a.acquire("job", TEN_SECONDS);
    fleet.redis.flushAll();
    fleet.advance(Duration.ofMillis(1));

    Lease second = b.acquire("job", TEN_SECONDS);

    assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
  }

  @Test
  void token_serverClockSetBack_growsByTheCounter() {
    Lease first = a.acquire("job", TEN_SECONDS);
    a.release(first);
    fleet.redis.stepClock(Duration.ofHours(-1));

    assertThat(b.acquire("job", TEN_SECONDS).fencingToken()).isEqualTo(first.fencingToken() + 1);
  }

  @Test
  void token_beyondTheNumbersOfLua_losesNoDigit() {
    Lease first = a.acquire("job", TEN_SECONDS);
    a.release(first);
    List<String> counters =
        fleet.redis.snapshot().keySet().stream()
            .map(Object::toString)
            .filter(key -> key.startsWith("pdk:lease:"))
            .toList();
    counters.forEach(counter -> fleet.redis.command("SET", counter, "9007199254740993"));

    Lease second = a.acquire("job", TEN_SECONDS);
    a.release(second);
    Lease third = a.acquire("job", TEN_SECONDS);

    assertThat(second.fencingToken()).isEqualTo(9_007_199_254_740_994L);
    assertThat(third.fencingToken()).isEqualTo(9_007_199_254_740_995L);
  }

  @ParameterizedTest
  @ValueSource(strings = {"LOST_REPLY", "BROKEN_AFTER"})
  void unknownAcquire_thatTheStoreGranted_isCleanedUpBehind(String fate) {
    fleet.fate(
        "LEASE_ACQUIRE",
        fate.equals("LOST_REPLY") ? RequestFate.LOST_REPLY : RequestFate.BROKEN_AFTER);
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(LeaseFleet.COMMAND_TIMEOUT.plusMillis(10));

    assertThat(attempt.error())
        .isInstanceOf(StoreException.class)
        .matches(error -> ((StoreException) error).mayHaveHappened());
    fleet.advance(Duration.ofMillis(100));
    assertThat(fleet.leaseKeys()).isEmpty();
    assertThat(a.events(LeaseEvent.CleanedUp.class))
        .singleElement()
        .matches(event -> Boolean.TRUE.equals(event.released()));
    fleet.allDelivered();
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isPresent();
  }

  @Test
  void unknownAcquire_releaseUnknownToo_isRepeatedUntilAnswered() {
    fleet.redis.setInterceptor(
        request ->
            request.runs("LEASE_ACQUIRE:") ? RequestFate.BROKEN_AFTER : RequestFate.BROKEN_BEFORE);
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(3));
    assertThat(attempt.error()).isInstanceOf(StoreException.class);
    assertThat(fleet.leaseKeys()).hasSize(1);

    fleet.allDelivered();
    fleet.advance(Duration.ofSeconds(2));

    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void unknownAcquire_thatNeverArrived_leavesNothingAndStopsAsking() {
    fleet.redis.setInterceptor(request -> RequestFate.BROKEN_BEFORE);
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMinutes(1));

    assertThat(attempt.error()).isInstanceOf(StoreException.class);
    assertThat(a.events(LeaseEvent.CleanedUp.class))
        .singleElement()
        .matches(event -> event.released() == null);
  }

  @Test
  void acquireThatCertainlyFailed_sendsNoRelease() {
    fleet.redis.setInterceptor(
        request -> {
          assertThat(request.runs("LEASE_RELEASE:")).isFalse();
          return RequestFate.NOT_SENT;
        });
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(5));

    assertThat(attempt.error())
        .isInstanceOf(StoreException.class)
        .matches(error -> !((StoreException) error).mayHaveHappened());
  }

  @Test
  void acquire_executedAfterItsCallerGaveUp_grantsNothing() {
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ofSeconds(5), Duration.ZERO));
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(2));
    assertThat(attempt.error()).isInstanceOf(StoreException.class);

    fleet.allDelivered();
    fleet.advance(Duration.ofSeconds(4));

    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void validity_countsFromBeforeTheRequestWasSent() {
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(900)));

    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(500));
    // The other clock would know, too.
    a.clock.stepWall(Duration.ofHours(-1));
    fleet.advance(Duration.ofMillis(500));

    assertThat(attempt.lease().remaining()).isLessThanOrEqualTo(Duration.ofSeconds(9));
  }

  @Test
  void acquire_replyAfterItsValidity_isNoLeaseAndIsGivenBack() {
    LeaseOptions shortLease = LeaseOptions.defaults().leaseTime(Duration.ofMillis(500));
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(600)));

    Attempt attempt = a.begin("job", shortLease);
    fleet.advance(Duration.ofMillis(700));

    assertThat(attempt.refused()).isTrue();
  }

  @Test
  void acquire_wallClockJumpsWhileItIsUnderWay_isNoLease() {
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(100)));
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(50));
    a.clock.stepWall(Duration.ofSeconds(11));
    fleet.advance(Duration.ofMillis(100));

    assertThat(attempt.refused()).isTrue();
    fleet.allDelivered();
    fleet.advance(Duration.ofMillis(100));
    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void acquire_sentTwiceByTheDriver_isOneLeaseWithOneToken() {
    fleet.fate("LEASE_ACQUIRE", RequestFate.DELIVERED.repeated(Duration.ofMillis(5)));
    Lease first = a.acquire("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(50));
    fleet.allDelivered();

    assertThat(a.release(first)).isEqualTo(LeaseOutcome.RELEASED);
    assertThat(b.acquire("job", TEN_SECONDS).fencingToken()).isGreaterThan(first.fencingToken());
  }

  @Test
  void acquire_underOom_isAFailureThatLeftNothing() {
    fleet.redis.setOutOfMemory(true);
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(2));

    assertThat(attempt.error())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("OOM")
        .matches(error -> !((StoreException) error).mayHaveHappened());
    assertThat(fleet.leaseKeys()).isEmpty();
  }

  @Test
  void acquire_keyOfAnotherType_isAFailureThatNamesIt() {
    a.release(a.acquire("job", TEN_SECONDS));
    Lease lease = a.acquire("job", TEN_SECONDS);
    String key = fleet.leaseKeys().get(0);
    a.release(lease);
    fleet.redis.command("SET", key, "foreign", "PX", "60000");

    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofSeconds(2));

    assertThat(attempt.error())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("job")
        .hasMessageContaining("WRONGTYPE");
  }

  @Test
  void leaseKeyWithoutTtl_isGivenOneByTheNextWhoAsks() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.redis.command("PERSIST", fleet.leaseKeys().get(0));

    assertThat(b.tryAcquire("job", TEN_SECONDS)).isEmpty();

    fleet.advance(Duration.ofSeconds(11));
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isPresent();
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.EXPIRED);
  }

  @Test
  void scriptFlush_beforeEachOperation_changesNothing() {
    fleet.redis.scriptFlush();
    Lease lease = a.acquire("job", TEN_SECONDS);
    fleet.redis.scriptFlush();
    assertThat(fleet.env.await(lease.extendAsync(), Duration.ofSeconds(10)))
        .isEqualTo(dev.paddock.ExtensionOutcome.EXTENDED);
    fleet.redis.scriptFlush();
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.RELEASED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\nb", "\u0000"})
  void name_malformed_isRefusedWithTheRule(String name) {
    assertThatThrownBy(() -> a.lock.tryAcquireAsync(name, TEN_SECONDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 200 characters");
  }

  @Test
  void name_tooLongOrNoUtf16_isRefused() {
    assertThatThrownBy(() -> a.lock.tryAcquireAsync("x".repeat(201), TEN_SECONDS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.lock.tryAcquireAsync("\ud800", TEN_SECONDS))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void leaseTime_outsideTheStoresLimits_isRefusedWithThem() {
    LeaseOptions tooShort = LeaseOptions.defaults().leaseTime(Duration.ofMillis(1));
    assertThatThrownBy(() -> a.lock.tryAcquireAsync("job", tooShort))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT0.01S")
        .hasMessageContaining("redis")
        .hasMessageContaining("PT0.001S");
  }

  @Test
  void options_outOfRange_areRefusedAtOnce() {
    LeaseOptions options = LeaseOptions.defaults();
    assertThatThrownBy(() -> options.leaseTime(Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("leaseTime");
    assertThatThrownBy(() -> options.leaseTime(Duration.ofNanos(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> options.waitTime(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("waitTime");
    assertThatThrownBy(() -> options.renewFor(Duration.ofDays(3650)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("renewFor");
  }

  @Test
  void renewFor_shorterThanTheLease_isRefused() {
    LeaseOptions incoherent = TEN_SECONDS.renewFor(Duration.ofSeconds(5));
    assertThatThrownBy(() -> a.lock.tryAcquireAsync("job", incoherent))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT5S")
        .hasMessageContaining("PT10S");
  }

  @Test
  void cancelledAttempt_thatIsGranted_isGivenBack() {
    fleet.fate(
        "LEASE_ACQUIRE", RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(100)));
    Attempt attempt = a.begin("job", TEN_SECONDS);
    fleet.advance(Duration.ofMillis(10));
    attempt.future.cancel(false);
    fleet.allDelivered();
    fleet.advance(Duration.ofMillis(200));

    assertThat(fleet.leaseKeys()).isEmpty();
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isPresent();
  }

  @Test
  void closedLock_refusesAndTellsItsHolders() {
    Lease lease = a.acquire("job", TEN_SECONDS);
    StringBuilder told = new StringBuilder();
    lease.onLost(() -> told.append("lost"));

    a.lock.close();
    a.lock.close();
    fleet.advance(Duration.ofMillis(1));

    assertThat(told).hasToString("lost");
    assertThat(lease.isValid()).isFalse();
    assertThat(a.release(lease)).isEqualTo(LeaseOutcome.LOST);
    // Its work may still run: the lease is left to run out.
    assertThat(b.tryAcquire("job", TEN_SECONDS)).isEmpty();
    assertThatThrownBy(() -> a.lock.tryAcquireAsync("job", TEN_SECONDS))
        .isInstanceOf(PaddockClosedException.class);
  }
}
