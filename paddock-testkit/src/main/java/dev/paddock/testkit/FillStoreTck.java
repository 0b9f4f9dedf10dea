/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.paddock.StoreException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireReply.Status;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.AcquireRequest.Mode;
import dev.paddock.spi.BarrierRequest;
import dev.paddock.spi.ChangeListener;
import dev.paddock.spi.Environment;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.PutOutcome;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every {@link FillStore} on Redis has to do, whichever client carries it. A transport's tests
 * extend this and say how a store is opened.
 *
 * <p>Nothing here depends on the speed of the machine: what must still hold has minutes, what must
 * be over is waited for. After each test every key of Paddock's own must have a TTL.
 *
 * <p>The seed of the random parts is printed by a failure; the system property {@code
 * paddock.tck.seed} sets it.
 *
 * @since 0.1.0
 */
public abstract class FillStoreTck {
  /** Still holds at the end of any test. */
  private static final long LONG = 3_600_000;

  private static final long GRACE = 2 * LONG;
  private static final long GRACE_MAX = 24 * LONG;

  /** Over soon. */
  private static final long SHORT = 40;

  private static final Duration MORE_THAN_SHORT = Duration.ofMillis(SHORT + 20);
  private static final long PAUSE_MILLIS = 2_000;
  private static final String OWN_KEYS = "pdk:";
  private static final int MUTATIONS = 250;

  /** Where the deadline is in a lease record. */
  private static final int DEADLINE_AT = 61;

  private static final long SEED =
      Long.getLong("paddock.tck.seed", new SplittableRandom().nextLong());

  private final Set<Long> epochs = new HashSet<>();
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final StoreKey key = StoreKey.of("tck:cache:key");
  private final List<FillStore> opened = new ArrayList<>();
  private FillStoreHarness harness;
  private FillStore store;

  /** For subclasses. */
  protected FillStoreTck() {}

  /**
   * Makes a harness on an empty server.
   *
   * @return the harness, which the suite closes
   * @throws Exception if that fails
   */
  protected abstract FillStoreHarness newHarness() throws Exception;

  /**
   * Opens what each test needs.
   *
   * @throws Exception if that fails
   */
  @BeforeEach
  final void setUp() throws Exception {
    harness = newHarness();
    store = open(harness.environment());
  }

  private FillStore open(Environment environment) {
    FillStore another = harness.open(environment);
    opened.add(another);
    return another;
  }

  /** Checks what must hold after every test, and closes all. */
  @AfterEach
  final void tearDown() {
    if (harness == null) {
      return;
    }
    try {
      harness
          .console()
          .snapshot()
          .forEach(
              (name, state) -> {
                if (name.toString().startsWith(OWN_KEYS)) {
                  assertThat(state.ttlMillis())
                      .as("TTL of %s: %s", name, state)
                      .isBetween(0L, GRACE_MAX);
                }
              });
    } finally {
      opened.forEach(FillStore::close);
      harness.close();
    }
  }

  // READ

  @Test
  public final void read_nothingStored_isMissing() {
    assertThat(read()).isEqualTo(ReadReply.MISSING);
  }

  @Test
  public final void read_entry_comesBackAsItWasStored() {
    for (int i = 0; i < 50; i++) {
      boolean negative = random.nextInt(4) == 0;
      StoredEntry entry =
          new StoredEntry(
              negative,
              random.nextBoolean(),
              random.nextLong(10_000_000_000_000_000L),
              random.nextLong(10_000_000_000_000_000L),
              random.nextLong(10_000_000_000L),
              StoredEntry.NO_EPOCH,
              random.nextLong(10_000_000_000L),
              random.nextInt(Integer.MAX_VALUE),
              negative ? new byte[0] : bytes(random.nextInt(300)));
      assertThat(put(entry)).isEqualTo(PutOutcome.STORED);
      assertSame(found(), entry);
    }
  }

  @Test
  public final void read_emptyPayloadAndNegativeAndMissing_areThreeThings() {
    put(fresh(new byte[0]));
    assertThat(found().negative()).isFalse();
    assertThat(found().payload()).isEmpty();
    put(new StoredEntry(true, false, farFuture(), 1, 1, 0, 0, 1, new byte[0]));
    assertThat(found().negative()).isTrue();
    await(store.invalidate(key, 0));
    assertThat(read()).isEqualTo(ReadReply.MISSING);
  }

  @Test
  public final void read_aMegabyteOfAllBytes_comesBack() {
    byte[] payload = new byte[1 << 20];
    for (int i = 0; i < payload.length; i++) {
      payload[i] = (byte) (i ^ (i >> 8));
    }
    AcquireReply lease = grant("a");
    assertThat(fill("a", entry(lease, payload))).isEqualTo(FillOutcome.STORED);
    assertThat(found().payload()).isEqualTo(payload);
    assertThat(requireNonNull(acquire(ask("b")).entry()).payload()).isEqualTo(payload);
  }

  @Test
  public final void read_tenYearsToLive_keepsItsTtl() {
    long tenYears = Duration.ofDays(3650).toMillis();
    assertThat(await(store.put(key, fresh(), tenYears, LONG))).isEqualTo(PutOutcome.STORED);
    assertThat(ttl(key)).isBetween(tenYears - LONG, tenYears);
    await(store.invalidate(key, 0));
    AcquireReply lease = grant("a");
    await(store.fill(new FillRequest(key, owner("a"), entry(lease, bytes(3)), tenYears)));
    assertThat(ttl(key)).isBetween(tenYears - LONG, tenYears);
  }

  @Test
  public final void readAll_eachKeyHasItsOwnAnswer_inTheOrderAsked() {
    List<StoreKey> keys = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      // Half of them share a slot, where the store is a cluster.
      keys.add(StoreKey.of(i % 2 == 0 ? "tck:{all}:" + i : "tck:all:" + i));
    }
    List<StoredEntry> entries = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      StoredEntry entry = fresh(bytes(i));
      entries.add(entry);
      if (i % 3 != 0) {
        await(store.put(keys.get(i), entry, LONG, LONG));
      }
    }
    harness.console().command("SET", keys.get(1).bytes(), "foreign");
    List<CompletionStage<ReadReply>> replies = store.readAll(keys);
    assertThat(replies).hasSameSizeAs(keys);
    for (int i = 0; i < keys.size(); i++) {
      ReadReply reply = await(replies.get(i));
      if (i == 1) {
        assertThat(reply).isInstanceOf(ReadReply.Unreadable.class);
      } else if (i % 3 == 0) {
        assertThat(reply).as("key %s", i).isEqualTo(ReadReply.MISSING);
      } else {
        assertSame(((ReadReply.Found) reply).entry(), entries.get(i));
      }
    }
  }

  @Test
  public final void readAll_keyOfAnotherType_isNoValueAndNoErrorForTheOthers() {
    StoreKey other = StoreKey.of("tck:cache:{key}:other");
    put(fresh(bytes(3)));
    harness.console().command("RPUSH", other.bytes(), "a list");
    List<CompletionStage<ReadReply>> replies = store.readAll(List.of(other, key));
    assertThat(await(replies.get(0))).isNotInstanceOf(ReadReply.Found.class);
    assertThat(await(replies.get(1))).isInstanceOf(ReadReply.Found.class);
  }

  @Test
  public final void readAll_oneKeyOrNone_isAsGood() {
    put(fresh(bytes(3)));
    assertThat(store.readAll(List.of())).isEmpty();
    assertThat(await(store.readAll(List.of(key)).get(0))).isInstanceOf(ReadReply.Found.class);
  }

  // ACQUIRE: each status

  private void assertNewEpoch(AcquireReply reply) {
    assertThat(reply.epoch()).isNotEqualTo(StoredEntry.NO_EPOCH);
    assertThat(epochs.add(reply.epoch())).as("another epoch than before").isTrue();
  }

  @Test
  public final void acquire_nothingStored_isGrantedWithANewEpoch() {
    AcquireReply reply = acquire(ask("a").epoch(77));
    assertThat(reply.status()).isEqualTo(Status.GRANTED);
    assertThat(reply.granted()).isTrue();
    assertNewEpoch(reply);
    assertThat(reply.seq()).isEqualTo(1);
    assertThat(reply.entry()).isNull();
    assertThat(reply.unreadable()).isFalse();
    assertThat(leaseTtl()).isBetween(GRACE - LONG, GRACE);
  }

  @Test
  public final void acquire_randomBitsOfAllKinds_makeNewEpochs() {
    for (long epoch :
        new long[] {1, -1, Long.MIN_VALUE | 1, Long.MAX_VALUE, 1L << 53 | 7, 0x8000_0001L}) {
      AcquireReply reply = acquire(ask("a").epoch(epoch));
      assertNewEpoch(reply);
      assertThat(fill("a", entry(reply, bytes(4)))).isEqualTo(FillOutcome.STORED);
      assertThat(found().epoch()).isEqualTo(reply.epoch());
      await(store.invalidate(key, 0));
    }
  }

  @Test
  public final void acquire_freshValue_isAHitWithoutALease() {
    put(fresh());
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.HIT);
    assertSame(requireNonNull(reply.entry()), found());
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void acquire_staleValue_isGrantedAndTheValueComesAlong() {
    put(stale());
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.STALE_GRANTED);
    assertThat(reply.granted()).isTrue();
    assertThat(reply.seq()).isEqualTo(1);
    assertSame(requireNonNull(reply.entry()), found());
  }

  @Test
  public final void acquire_valueThatBecomesStale_isGrantedByTheServersClock() {
    put(
        new StoredEntry(
            false,
            false,
            store.nowMillis(key) + SHORT,
            1,
            1,
            StoredEntry.NO_EPOCH,
            0,
            1,
            bytes(3)));
    Status status = Status.HIT;
    for (int i = 0; i < 1000 && status == Status.HIT; i++) {
      harness.passTime(MORE_THAN_SHORT);
      status = acquire(ask("a")).status();
    }
    assertThat(status).isEqualTo(Status.STALE_GRANTED);
  }

  @Test
  public final void acquire_leaseOfAnother_isToldToWaitNoLongerThanItLasts() {
    grant("a");
    AcquireReply reply = acquire(ask("b"));
    assertThat(reply.status()).isEqualTo(Status.WAIT);
    assertThat(reply.granted()).isFalse();
    assertThat(reply.leftMillis()).isBetween(1L, LONG);
    assertThat(reply.entry()).isNull();
  }

  @Test
  public final void acquire_leaseOfAnotherAndStaleValue_getsTheStaleValue() {
    put(stale());
    acquire(ask("a"));
    AcquireReply reply = acquire(ask("b"));
    assertThat(reply.status()).isEqualTo(Status.STALE);
    assertThat(reply.leftMillis()).isBetween(1L, LONG);
    assertSame(requireNonNull(reply.entry()), found());
  }

  @Test
  public final void acquire_whoeverIsHeldBack_isToldTheEpochOfTheLease() {
    AcquireReply lease = acquire(ask("a").epoch(7));
    assertThat(acquire(ask("b").epoch(8)).epoch()).isEqualTo(lease.epoch());
    release("a", LONG);
    assertThat(acquire(ask("b").epoch(8)).status()).isEqualTo(Status.COOLDOWN);
    assertThat(acquire(ask("b").epoch(8)).epoch()).isEqualTo(lease.epoch());
    await(store.invalidate(key, 0));
    put(stale());
    AcquireReply staleGranted = acquire(ask("c").epoch(9));
    AcquireReply withStale = acquire(ask("d").epoch(8));
    assertThat(withStale.status()).isEqualTo(Status.STALE);
    assertThat(withStale.epoch()).isEqualTo(staleGranted.epoch());
  }

  @Test
  public final void acquire_valueSeenThatIsToBeReplaced_isGrantedOnceAndFreshForTheOthers() {
    put(fresh());
    StoredEntry seen = found();
    AcquireReply first = acquire(ask("a").mode(Mode.REPLACE_STALE, seen));
    assertThat(first.status()).isEqualTo(Status.STALE_GRANTED);
    assertSame(requireNonNull(first.entry()), seen);
    AcquireReply second = acquire(ask("b").mode(Mode.REPLACE_STALE, seen));
    assertThat(second.status()).isEqualTo(Status.FRESH);
    assertThat(second.leftMillis()).isBetween(1L, LONG);
    assertSame(requireNonNull(second.entry()), seen);
    assertThat(acquire(ask("c")).status()).isEqualTo(Status.HIT);
  }

  @Test
  public final void acquire_valueSeenThatWasReplacedMeanwhile_isAHit() {
    put(fresh());
    StoredEntry seen = found();
    put(new StoredEntry(false, false, farFuture() + 1, 2, 2, StoredEntry.NO_EPOCH, 0, 1, bytes(5)));
    assertThat(acquire(ask("a").mode(Mode.REPLACE_STALE, seen)).status()).isEqualTo(Status.HIT);
    assertThat(acquire(ask("a").mode(Mode.REPLACE_BROKEN, seen)).status()).isEqualTo(Status.HIT);
  }

  @Test
  public final void acquire_valueSeenThatIsBroken_countsAsMissing() {
    put(fresh());
    StoredEntry seen = found();
    AcquireReply first = acquire(ask("a").mode(Mode.REPLACE_BROKEN, seen));
    assertThat(first.status()).isEqualTo(Status.GRANTED);
    assertThat(first.entry()).isNull();
    AcquireReply second = acquire(ask("b").mode(Mode.REPLACE_BROKEN, seen));
    assertThat(second.status()).isEqualTo(Status.WAIT);
    assertThat(second.entry()).isNull();
    assertThat(fill("a", entry(first, bytes(5)))).isEqualTo(FillOutcome.STORED);
    assertThat(acquire(ask("b").mode(Mode.REPLACE_BROKEN, seen)).status()).isEqualTo(Status.HIT);
  }

  @Test
  public final void acquire_forced_isGrantedWhateverIsFresh() {
    put(fresh());
    AcquireReply reply = acquire(ask("a").mode(Mode.FORCED, null));
    assertThat(reply.status()).isEqualTo(Status.STALE_GRANTED);
    assertThat(requireNonNull(reply.entry()).payload()).isNotEmpty();
    assertThat(acquire(ask("b").mode(Mode.FORCED, null)).status()).isEqualTo(Status.FRESH);
  }

  @Test
  public final void acquire_hitForTheHolder_freesItsLease() {
    put(fresh());
    acquire(ask("a").mode(Mode.FORCED, null));
    assertThat(leaseKey()).isNotNull();
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.HIT);
    assertThat(leaseKey()).isNotNull();
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.HIT);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void acquire_sameOwnerAgain_isRecognisedAsAReplay() {
    AcquireReply first = grant("a");
    AcquireReply again = acquire(ask("a").epoch(99));
    assertThat(again.status()).isEqualTo(Status.MINE);
    assertThat(again.granted()).isTrue();
    assertThat(again.epoch()).isEqualTo(first.epoch());
    assertThat(again.seq()).isEqualTo(first.seq());
    assertThat(again.leftMillis()).isBetween(1L, LONG);
    assertThat(fill("a", entry(again, bytes(3)))).isEqualTo(FillOutcome.STORED);
  }

  /** As a client library does that sends again what was under way when its connection broke. */
  @Test
  public final void acquire_replayedAfterAnInvalidate_bringsNoEndedEpochBack() {
    Ask asked = ask("a");
    AcquireReply lease = acquire(asked);
    StoredEntry entry = entry(lease, bytes(9));
    await(store.invalidate(key, 0));
    AcquireReply again = acquire(asked);
    assertThat(again.status()).isEqualTo(Status.GRANTED);
    assertThat(again.epoch()).isNotEqualTo(lease.epoch());
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
  }

  @Test
  public final void acquire_replayedAfterAPut_bringsNoEndedEpochBack() {
    Ask asked = ask("a").mode(Mode.FORCED, null);
    AcquireReply lease = acquire(asked);
    StoredEntry entry = entry(lease, bytes(9));
    StoredEntry newer = fresh();
    put(newer);
    assertThat(acquire(asked).status()).isEqualTo(Status.STALE_GRANTED);
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.INVALIDATED);
    assertSame(found(), newer);
  }

  @Test
  public final void acquire_replayAfterTheDegradedLoad_keepsItsOwnSeq() {
    AcquireReply first = grant("a");
    assertThat(acquire(ask("b").degraded()).seq()).isEqualTo(2);
    assertThat(acquire(ask("a")).seq()).isEqualTo(first.seq());
  }

  @Test
  public final void acquire_replayWithShorterLease_shortensNothing() {
    grant("a");
    acquire(ask("a").lease(SHORT, 2 * SHORT));
    assertThat(acquire(ask("b")).leftMillis()).isGreaterThan(SHORT);
    assertThat(leaseTtl()).isGreaterThan(GRACE - LONG);
  }

  @Test
  public final void acquire_leaseRanOut_isGrantedInTheSameEpochWithTheNextSeq() {
    AcquireReply first = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply second = acquire(ask("b").lease(SHORT, GRACE).epoch(99));
    assertThat(second.status()).isEqualTo(Status.GRANTED);
    assertThat(second.epoch()).isEqualTo(first.epoch());
    assertThat(second.seq()).isEqualTo(2);
    harness.passTime(MORE_THAN_SHORT);
    assertThat(grant("c").seq()).isEqualTo(3);
  }

  @Test
  public final void acquire_graceRanOut_beginsANewEpoch() {
    assertNewEpoch(acquire(ask("a").epoch(1).lease(SHORT, SHORT + 10)));
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply second = acquire(ask("b").epoch(2));
    assertNewEpoch(second);
    assertThat(second.seq()).isEqualTo(1);
  }

  @Test
  public final void acquire_graceOfANewGrant_shortensNothing() {
    acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    acquire(ask("b").lease(SHORT, 2 * SHORT));
    assertThat(leaseTtl()).isGreaterThan(GRACE - LONG);
  }

  @Test
  public final void acquire_manyAtOnce_grantsExactlyOne() {
    FillStore other = open(harness.environment());
    List<CompletionStage<AcquireReply>> all = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      all.add((i % 2 == 0 ? store : other).acquire(ask("many-" + i).build()));
    }
    List<Status> statuses = all.stream().map(stage -> await(stage).status()).toList();
    assertThat(statuses.stream().filter(status -> status == Status.GRANTED)).hasSize(1);
    assertThat(statuses.stream().filter(status -> status == Status.WAIT)).hasSize(39);
  }

  @Test
  public final void acquire_clockThatSteppedBack_endsTheLease() {
    AcquireReply first = grant("a");
    // As after a step of the server's clock: the deadline lies further off than the lease is long.
    long now = store.nowMillis(key);
    harness
        .console()
        .command("SETRANGE", requireLeaseKey(), DEADLINE_AT, digits(now + 3 * LONG, 16));
    AcquireReply second = acquire(ask("b"));
    assertThat(second.status()).isEqualTo(Status.GRANTED);
    assertThat(second.epoch()).isEqualTo(first.epoch());
    assertThat(second.seq()).isEqualTo(2);
  }

  @Test
  public final void acquire_leaseLongerThanTheAskers_isLiveAllTheSame() {
    grant("a");
    assertThat(acquire(ask("b").lease(SHORT, GRACE)).status()).isEqualTo(Status.WAIT);
  }

  @Test
  public final void acquire_afterItsTime_doesNothing() {
    grant("warm-up");
    await(store.invalidate(key, 0));
    harness.console().command("CLIENT", "PAUSE", PAUSE_MILLIS);
    AcquireReply reply = acquire(ask("a").validFor(20));
    assertThat(reply.status()).isEqualTo(Status.TOO_LATE);
    assertThat(reply.granted()).isFalse();
    assertThat(leaseKey()).isNull();
  }

  // The degraded load

  @Test
  public final void degraded_oncePerLease_othersGoOnWaiting() {
    AcquireReply holder = grant("a");
    AcquireReply degraded = acquire(ask("b").degraded());
    assertThat(degraded.status()).isEqualTo(Status.DEGRADED);
    assertThat(degraded.granted()).isFalse();
    assertThat(degraded.epoch()).isEqualTo(holder.epoch());
    assertThat(degraded.seq()).isEqualTo(2);
    assertThat(acquire(ask("c").degraded()).status()).isEqualTo(Status.WAIT);
    AcquireReply replay = acquire(ask("b").degraded());
    assertThat(replay.status()).isEqualTo(Status.DEGRADED);
    assertThat(replay.seq()).isEqualTo(2);
  }

  @Test
  public final void degraded_nextLease_allowsTheNextOne() {
    acquire(ask("a").lease(SHORT, GRACE));
    acquire(ask("b").degraded());
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply next = grant("c");
    AcquireReply degraded = acquire(ask("d").degraded());
    assertThat(degraded.status()).isEqualTo(Status.DEGRADED);
    assertThat(degraded.seq()).isEqualTo(next.seq() + 1);
  }

  @Test
  public final void degraded_nobodyHoldsTheLease_isGrantedAsUsual() {
    assertThat(acquire(ask("a").degraded()).status()).isEqualTo(Status.GRANTED);
  }

  @Test
  public final void degraded_duringTheCoolDown_isNoWayAroundIt() {
    grant("a");
    assertThat(release("a", LONG)).isTrue();
    assertThat(acquire(ask("b").degraded()).status()).isEqualTo(Status.COOLDOWN);
  }

  @Test
  public final void degraded_fill_isStoredAndLeavesTheHolderAlone() {
    AcquireReply holder = grant("a");
    AcquireReply degraded = acquire(ask("b").degraded());
    assertThat(fill("b", entry(degraded, bytes(6)))).isEqualTo(FillOutcome.STORED_LATE);
    assertThat(found().payload()).hasSize(6);
    assertThat(leaseOwner()).isEqualTo(owner("a"));
    assertThat(fill("a", entry(holder, bytes(7)))).isEqualTo(FillOutcome.SUPERSEDED);
    assertThat(found().payload()).hasSize(6);
    assertThat(leaseKey()).isNull();
  }

  // FILL

  @Test
  public final void fill_underItsLease_storesAndFreesIt() {
    AcquireReply lease = grant("a");
    StoredEntry entry = entry(lease, bytes(9));
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), entry);
    assertThat(ttl(key)).isBetween(1L, LONG);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void fill_replayed_isStoredOnce() {
    AcquireReply lease = grant("a");
    StoredEntry entry = entry(lease, bytes(9));
    fill("a", entry);
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), entry);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void fill_replayedAfterAnInvalidate_storesNothing() {
    AcquireReply lease = grant("a");
    StoredEntry entry = entry(lease, bytes(9));
    fill("a", entry);
    await(store.invalidate(key, 0));
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
  }

  @Test
  public final void fill_replayedAfterTheNextFill_changesNothing() {
    StoredEntry first = entry(grant("a"), bytes(9));
    fill("a", first);
    AcquireReply lease = acquire(ask("b").mode(Mode.FORCED, null).epoch(5));
    StoredEntry second = entry(lease, bytes(8));
    assertThat(fill("a", first)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), first);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
    assertThat(fill("b", second)).isEqualTo(FillOutcome.STORED);
    assertThat(fill("a", first)).isEqualTo(FillOutcome.INVALIDATED);
    assertSame(found(), second);
  }

  @Test
  public final void fill_laterThanItsLease_isStored() {
    AcquireReply lease = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    StoredEntry entry = entry(lease, bytes(9));
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), entry);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void fill_lateWithANewerOwner_isStoredAndLeavesThatAlone() {
    AcquireReply first = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply second = grant("b");
    assertThat(fill("a", entry(first, bytes(9)))).isEqualTo(FillOutcome.STORED_LATE);
    assertThat(found().payload()).hasSize(9);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
    StoredEntry newer = entry(second, bytes(8));
    assertThat(fill("b", newer)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), newer);
  }

  @Test
  public final void fill_lateReplayed_isRecognised() {
    AcquireReply first = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    grant("b");
    StoredEntry late = entry(first, bytes(9));
    fill("a", late);
    assertThat(fill("a", late)).isEqualTo(FillOutcome.STORED);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
  }

  @Test
  public final void fill_afterItsRelease_isStoredLateWithoutANewerOwner() {
    AcquireReply lease = grant("a");
    assertThat(release("a", 0)).isTrue();
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.STORED_LATE);
    assertThat(found().payload()).hasSize(9);
  }

  @Test
  public final void fill_lowerSeqThanStored_isSuperseded() {
    AcquireReply first = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply second = grant("b");
    StoredEntry newer = entry(second, bytes(8));
    fill("b", newer);
    assertThat(fill("a", entry(first, bytes(9)))).isEqualTo(FillOutcome.SUPERSEDED);
    assertSame(found(), newer);
  }

  @Test
  public final void fill_afterAnInvalidate_storesNothing() {
    AcquireReply lease = grant("a");
    await(store.invalidate(key, 0));
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void fill_afterAnInvalidateAndANewLease_storesNothingAndLeavesThatAlone() {
    AcquireReply first = acquire(ask("a").epoch(1));
    await(store.invalidate(key, 0));
    AcquireReply second = acquire(ask("b").epoch(2));
    assertThat(second.status()).isEqualTo(Status.GRANTED);
    assertThat(fill("a", entry(first, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
    assertThat(fill("b", entry(second, bytes(8)))).isEqualTo(FillOutcome.STORED);
  }

  @Test
  public final void fill_afterAnExpire_storesNothing() {
    put(fresh());
    AcquireReply lease = acquire(ask("a").mode(Mode.FORCED, null));
    await(store.expire(key, 0));
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(found().payload()).hasSize(3);
  }

  @Test
  public final void fill_afterTheGrace_storesNothing() {
    AcquireReply lease = acquire(ask("a").lease(SHORT, SHORT + 10));
    harness.passTime(MORE_THAN_SHORT);
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
  }

  @Test
  public final void fill_underAForeignOwner_neverFreesTheLease() {
    AcquireReply lease = grant("a");
    fill("somebody else", entry(lease, bytes(9)));
    assertThat(leaseOwner()).isEqualTo(owner("a"));
  }

  // PUT

  @Test
  public final void put_value_isStoredWithItsTtl() {
    StoredEntry entry = fresh();
    assertThat(put(entry)).isEqualTo(PutOutcome.STORED);
    assertSame(found(), entry);
    assertThat(ttl(key)).isBetween(1L, LONG);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void put_loadInFlight_isBeaten() {
    AcquireReply lease = grant("a");
    StoredEntry entry = fresh();
    put(entry);
    assertThat(leaseKey()).isNull();
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertSame(found(), entry);
  }

  @Test
  public final void put_holdOff_stays() {
    await(store.invalidate(key, LONG));
    StoredEntry entry = fresh();
    put(entry);
    assertSame(found(), entry);
    AcquireReply reply = acquire(ask("a").mode(Mode.FORCED, null));
    assertThat(reply.status()).isEqualTo(Status.HOLDOFF);
    assertThat(reply.leftMillis()).isBetween(LONG / 2, LONG);
  }

  @Test
  public final void put_afterItsTime_doesNothing() {
    StoredEntry entry = fresh();
    put(entry);
    harness.console().command("CLIENT", "PAUSE", PAUSE_MILLIS);
    assertThat(await(store.put(key, fresh(bytes(30)), LONG, 20))).isEqualTo(PutOutcome.TOO_LATE);
    assertSame(found(), entry);
  }

  // INVALIDATE and EXPIRE

  @Test
  public final void invalidate_value_isGoneAndNothingIsLeft() {
    put(fresh());
    await(store.invalidate(key, 0));
    assertThat(harness.console().snapshot()).isEmpty();
    await(store.invalidate(key, 0));
    assertThat(harness.console().snapshot()).isEmpty();
  }

  @Test
  public final void invalidate_lease_isNobodysAndTheNextEpochBegins() {
    assertNewEpoch(acquire(ask("a").epoch(1)));
    await(store.invalidate(key, 0));
    AcquireReply next = acquire(ask("b").epoch(2));
    assertThat(next.status()).isEqualTo(Status.GRANTED);
    assertNewEpoch(next);
    assertThat(next.seq()).isEqualTo(1);
  }

  @Test
  public final void invalidate_withHoldOff_nobodyMayStoreUntilItIsOver() {
    put(fresh());
    await(store.invalidate(key, LONG));
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.HOLDOFF);
    assertThat(reply.granted()).isFalse();
    assertThat(reply.leftMillis()).isBetween(1L, LONG);
    assertThat(reply.entry()).isNull();
    assertThat(acquire(ask("b").degraded()).status()).isEqualTo(Status.HOLDOFF);
    assertThat(leaseTtl()).isBetween(1L, LONG);
  }

  @Test
  public final void invalidate_holdOffThatIsOver_letsTheNextOneLoad() {
    await(store.invalidate(key, SHORT));
    harness.passTime(MORE_THAN_SHORT);
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.GRANTED);
  }

  @Test
  public final void invalidate_twoHoldOffs_theLaterOneStays() {
    await(store.invalidate(key, LONG));
    await(store.invalidate(key, SHORT));
    await(store.invalidate(key, 0));
    await(store.expire(key, SHORT));
    assertThat(acquire(ask("a")).leftMillis()).isBetween(LONG / 2, LONG);
    await(store.invalidate(key, 2 * LONG));
    assertThat(acquire(ask("a")).leftMillis()).isBetween(LONG + LONG / 2, 2 * LONG);
  }

  @Test
  public final void expire_value_isStaleWithItsPayloadAndItsTtl() {
    StoredEntry before =
        new StoredEntry(false, true, farFuture(), 123, 45, StoredEntry.NO_EPOCH, 0, 7, bytes(900));
    put(before);
    long ttl = ttl(key);
    await(store.expire(key, 0));
    StoredEntry after = found();
    assertThat(after.payload()).isEqualTo(before.payload());
    assertThat(after.compressed()).isTrue();
    assertThat(after.loadStartMillis()).isEqualTo(123);
    assertThat(after.loadMillis()).isEqualTo(45);
    assertThat(after.schemaVersion()).isEqualTo(7);
    assertThat(after.epoch()).isEqualTo(StoredEntry.NO_EPOCH);
    assertThat(ttl(key)).isBetween(ttl - LONG / 2, ttl);
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.STALE_GRANTED);
    assertThat(requireNonNull(reply.entry()).payload()).isEqualTo(before.payload());
  }

  @Test
  public final void expire_filledValue_losesItsEpoch() {
    AcquireReply lease = grant("a");
    StoredEntry entry = entry(lease, bytes(9));
    fill("a", entry);
    await(store.expire(key, 0));
    assertThat(found().epoch()).isEqualTo(StoredEntry.NO_EPOCH);
    assertThat(found().seq()).isZero();
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(found().softExpiryMillis()).isLessThan(farFuture());
  }

  @Test
  public final void expire_staleValue_isNotMadeFresher() {
    put(stale());
    await(store.expire(key, 0));
    assertThat(found().softExpiryMillis()).isEqualTo(stale().softExpiryMillis());
  }

  @Test
  public final void expire_nothingStored_endsTheLeaseAllTheSame() {
    AcquireReply lease = grant("a");
    await(store.expire(key, 0));
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
    assertThat(harness.console().snapshot()).isEmpty();
  }

  @Test
  public final void expire_withHoldOff_servesTheStaleValue() {
    put(fresh());
    await(store.expire(key, LONG));
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.HOLDOFF);
    assertThat(requireNonNull(reply.entry()).payload()).hasSize(3);
  }

  // EXTEND

  @Test
  public final void extend_ownLease_lastsItsFullLengthFromNow() {
    AcquireReply lease = acquire(ask("a").lease(SHORT, 2 * LONG));
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.EXTENDED);
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply other = acquire(ask("b"));
    assertThat(other.status()).isEqualTo(Status.WAIT);
    assertThat(other.leftMillis()).isBetween(LONG / 2, LONG);
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.MINE);
  }

  @Test
  public final void extend_ownLeaseThatRanOut_isLiveAgain() {
    AcquireReply lease = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.EXTENDED);
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.WAIT);
  }

  @Test
  public final void extend_shorter_shortensNeitherLeaseNorRecord() {
    AcquireReply lease = grant("a");
    assertThat(extend("a", lease, SHORT, 2 * SHORT)).isEqualTo(ExtendOutcome.EXTENDED);
    assertThat(leaseTtl()).isGreaterThan(GRACE - LONG);
    harness.passTime(MORE_THAN_SHORT);
    assertThat(acquire(ask("b")).leftMillis()).isGreaterThan(SHORT);
  }

  @Test
  public final void extend_leaseOfANewerOwner_isLost() {
    AcquireReply lease = acquire(ask("a").lease(SHORT, GRACE));
    harness.passTime(MORE_THAN_SHORT);
    grant("b");
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.LOST);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
  }

  @Test
  public final void extend_releasedLease_isLost() {
    AcquireReply lease = grant("a");
    release("a", 0);
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.LOST);
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.GRANTED);
  }

  @Test
  public final void extend_leaseThatIsGone_isInvalidatedAndNeverRecreated() {
    AcquireReply lease = grant("a");
    await(store.invalidate(key, 0));
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.INVALIDATED);
    assertThat(harness.console().snapshot()).isEmpty();

    AcquireReply second = grant("b");
    fill("b", entry(second, bytes(9)));
    assertThat(extend("b", second, LONG, GRACE)).isEqualTo(ExtendOutcome.INVALIDATED);
    assertThat(leaseKey()).isNull();
  }

  @Test
  public final void extend_afterAnInvalidateWithHoldOff_isInvalidated() {
    AcquireReply lease = grant("a");
    await(store.invalidate(key, LONG));
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.INVALIDATED);
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.HOLDOFF);
  }

  @Test
  public final void extend_otherEpoch_isInvalidated() {
    AcquireReply lease = acquire(ask("a").epoch(1));
    await(store.invalidate(key, 0));
    acquire(ask("b").epoch(2));
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.INVALIDATED);
    assertThat(leaseOwner()).isEqualTo(owner("b"));
  }

  // RELEASE

  @Test
  public final void release_ownLease_isFreeAtOnceWithEpochAndSeqKept() {
    AcquireReply first = grant("a");
    assertThat(release("a", 0)).isTrue();
    assertThat(leaseTtl()).isBetween(GRACE - LONG, GRACE);
    AcquireReply second = acquire(ask("b").epoch(99));
    assertThat(second.status()).isEqualTo(Status.GRANTED);
    assertThat(second.epoch()).isEqualTo(first.epoch());
    assertThat(second.seq()).isEqualTo(first.seq() + 1);
  }

  @Test
  public final void release_again_isNotTheOwnersAnyMore() {
    grant("a");
    release("a", 0);
    assertThat(release("a", 0)).isFalse();
    grant("b");
    assertThat(release("a", 0)).isFalse();
    assertThat(leaseOwner()).isEqualTo(owner("b"));
  }

  @Test
  public final void release_leaseOfAnother_isLeftAlone() {
    grant("a");
    assertThat(release("b", LONG)).isFalse();
    assertThat(leaseOwner()).isEqualTo(owner("a"));
    assertThat(acquire(ask("c")).status()).isEqualTo(Status.WAIT);
  }

  @Test
  public final void release_nothingHeld_leavesNothing() {
    assertThat(release("a", LONG)).isFalse();
    assertThat(harness.console().snapshot()).isEmpty();
  }

  @Test
  public final void release_withCoolDown_holdsBackTheNextOne() {
    grant("a");
    assertThat(release("a", LONG)).isTrue();
    AcquireReply reply = acquire(ask("b"));
    assertThat(reply.status()).isEqualTo(Status.COOLDOWN);
    assertThat(reply.leftMillis()).isBetween(1L, LONG);
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.COOLDOWN);
  }

  @Test
  public final void release_withCoolDownAndStaleValue_holdsBackAndTellsTheValue() {
    put(stale());
    acquire(ask("a"));
    release("a", LONG);
    AcquireReply reply = acquire(ask("b"));
    assertThat(reply.status()).isEqualTo(Status.COOLDOWN);
    assertThat(reply.leftMillis()).isBetween(1L, LONG);
    assertSame(requireNonNull(reply.entry()), found());
  }

  @Test
  public final void release_coolDownThatIsOver_grantsInTheSameEpochWithTheNextSeq() {
    AcquireReply first = grant("a");
    release("a", SHORT);
    harness.passTime(MORE_THAN_SHORT);
    AcquireReply second = acquire(ask("b").epoch(99));
    assertThat(second.status()).isEqualTo(Status.GRANTED);
    assertThat(second.epoch()).isEqualTo(first.epoch());
    assertThat(second.seq()).isEqualTo(2);
  }

  @Test
  public final void release_coolDownLongerThanTheGrace_keepsTheRecordAsLong() {
    grant("a", SHORT, LONG);
    assertThat(await(store.release(key, owner("a"), 4 * LONG, LONG))).isTrue();
    assertThat(leaseTtl()).isBetween(3 * LONG, 4 * LONG);
  }

  // Out of memory

  @Test
  public final void outOfMemory_fill_isRefusedAndTheLeaseCanBeReleased() {
    AcquireReply lease = grant("a");
    outOfMemory(true);
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.REFUSED);
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.EXTENDED);
    assertThat(release("a", LONG)).isTrue();
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.COOLDOWN);
  }

  @Test
  public final void outOfMemory_acquire_isNoLeaseWithTheStaleValue() {
    put(stale());
    outOfMemory(true);
    AcquireReply reply = acquire(ask("a"));
    assertThat(reply.status()).isEqualTo(Status.NO_LEASE);
    assertThat(reply.granted()).isFalse();
    assertSame(requireNonNull(reply.entry()), found());
    assertThat(leaseKey()).isNull();
    outOfMemory(false);
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.STALE_GRANTED);
  }

  @Test
  public final void outOfMemory_knownStates_areStillTold() {
    grant("a");
    StoreKey other = StoreKey.of("tck:cache:other");
    await(store.put(other, fresh(), LONG, LONG));
    outOfMemory(true);
    assertThat(acquire(ask("a")).status()).isEqualTo(Status.MINE);
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.WAIT);
    assertThat(acquire(ask("c").degraded()).status()).isIn(Status.WAIT, Status.DEGRADED);
    assertThat(await(store.acquire(ask("d").on(other).build())).status()).isEqualTo(Status.HIT);
    assertThat(await(store.read(other))).isInstanceOf(ReadReply.Found.class);
  }

  @Test
  public final void outOfMemory_put_isRefusedAndChangesNothing() {
    StoredEntry entry = fresh();
    put(entry);
    AcquireReply lease = acquire(ask("a").mode(Mode.FORCED, null));
    outOfMemory(true);
    assertThat(await(store.put(key, fresh(bytes(30)), LONG, LONG))).isEqualTo(PutOutcome.REFUSED);
    assertSame(found(), entry);
    outOfMemory(false);
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.STORED);
  }

  @Test
  public final void outOfMemory_invalidateAndExpire_areNeverRefused() {
    StoreKey other = StoreKey.of("tck:cache:other");
    put(fresh());
    await(store.put(other, fresh(), LONG, LONG));
    AcquireReply lease = acquire(ask("a").mode(Mode.FORCED, null));
    outOfMemory(true);
    await(store.invalidate(key, LONG));
    await(store.expire(other, LONG));
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.HOLDOFF);
    assertThat(await(store.acquire(ask("b").on(other).build())).status()).isEqualTo(Status.HOLDOFF);
    assertThat(((ReadReply.Found) await(store.read(other))).entry().softExpiryMillis())
        .isLessThan(farFuture());
    outOfMemory(false);
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.INVALIDATED);
  }

  // A replica

  @Test
  public final void readOnlyReplica_writes_failAsNotHappenedAndReadsGoOn() {
    assumeTrue(harness.hasReplicaOf(), "no server here can be made a replica");
    StoredEntry entry = fresh();
    put(entry);
    AcquireReply lease = acquire(ask("a").mode(Mode.FORCED, null));
    harness.console().command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertSame(found(), entry);
      assertThat(acquire(ask("b")).status()).isEqualTo(Status.HIT);
      assertNotHappened(
          () -> store.fill(new FillRequest(key, owner("a"), entry(lease, bytes(9)), LONG)));
      assertNotHappened(() -> store.put(key, fresh(), LONG, LONG));
      assertNotHappened(() -> store.invalidate(key, 0));
      assertNotHappened(() -> store.expire(key, 0));
      assertNotHappened(() -> store.extend(key, owner("a"), lease.epoch(), LONG, GRACE));
      assertNotHappened(() -> store.release(key, owner("a"), 0, GRACE));
      assertNotHappened(() -> store.acquire(ask("c").on(StoreKey.of("tck:none")).build()));
      assertSame(found(), entry);
    } finally {
      harness.console().command("REPLICAOF", "NO", "ONE");
    }
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.STORED);
  }

  private void assertNotHappened(Supplier<CompletionStage<?>> operation) {
    assertThatThrownBy(() -> await(operation.get()))
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse())
        .hasMessageContaining("READONLY");
  }

  // What is stored and none of ours

  @Test
  public final void garbage_inPlaceOfTheValue_isUnreadableAndReplacedByTheNextFill() {
    List<byte[]> foreign = new ArrayList<>();
    foreign.add(new byte[0]);
    foreign.add("PDK1".getBytes(UTF_8));
    foreign.add("{\"json\": true}".getBytes(UTF_8));
    foreign.add(new byte[99]);
    foreign.add(bytes(500));
    byte[] otherVersion = storedBytes(fresh());
    otherVersion[3] = '2';
    foreign.add(otherVersion);
    foreign.add(Arrays.copyOf(storedBytes(fresh()), 98));
    for (byte[] each : foreign) {
      harness.console().command("SET", key.bytes(), each, "PX", LONG);
      assertUnreadableAndReplaceable();
    }
  }

  @Test
  public final void garbage_otherTypeInPlaceOfTheValue_isUnreadableAndReplacedByTheNextFill() {
    List<Consumer<byte[]>> types =
        List.of(
            v -> harness.console().command("RPUSH", v, "x"),
            v -> harness.console().command("HSET", v, "f", "x"));
    for (Consumer<byte[]> each : types) {
      each.accept(key.bytes());
      assertUnreadableAndReplaceable();
      each.accept(key.bytes());
      assertThat(put(fresh())).isEqualTo(PutOutcome.STORED);
      await(store.invalidate(key, 0));
      each.accept(key.bytes());
      await(store.expire(key, 0));
      assertThat(read()).isEqualTo(ReadReply.MISSING);
      each.accept(key.bytes());
      await(store.invalidate(key, 0));
      assertThat(read()).isEqualTo(ReadReply.MISSING);
    }
  }

  private void assertUnreadableAndReplaceable() {
    assertThat(read()).isInstanceOf(ReadReply.Unreadable.class);
    AcquireReply lease = acquire(ask("a"));
    assertThat(lease.status()).isEqualTo(Status.GRANTED);
    assertThat(lease.unreadable()).isTrue();
    assertThat(lease.entry()).isNull();
    assertThat(acquire(ask("b")).unreadable()).isTrue();
    StoredEntry entry = entry(lease, bytes(9));
    assertThat(fill("a", entry)).isEqualTo(FillOutcome.STORED);
    assertSame(found(), entry);
    await(store.invalidate(key, 0));
  }

  @Test
  public final void garbage_inPlaceOfTheLease_isNoLease() {
    acquire(ask("a"));
    StoreKey lease = requireNonNull(leaseKey());
    await(store.invalidate(key, 0));

    harness.console().command("RPUSH", lease.bytes(), "x");
    harness.console().command("PEXPIRE", lease.bytes(), LONG);
    AcquireReply first = acquire(ask("b").epoch(3));
    assertThat(first.status()).isEqualTo(Status.GRANTED);
    assertNewEpoch(first);
    assertThat(leaseTtl()).isBetween(1L, GRACE);
    await(store.invalidate(key, 0));

    for (String malformed :
        List.of("", "x", owner("b"), owner("b") + " -1 ? zz 1e9 5", "-".repeat(146))) {
      harness.console().command("SET", lease.bytes(), malformed);
      AcquireReply second = acquire(ask("c").epoch(4));
      assertThat(second.status()).isEqualTo(Status.GRANTED);
      assertNewEpoch(second);
      assertThat(second.seq()).isEqualTo(1);
      assertThat(leaseTtl()).isBetween(1L, GRACE);
      await(store.invalidate(key, 0));
    }
  }

  @Test
  public final void garbage_eachByteOfTheLeaseRecord_isJudgedByItsForm() {
    acquire(ask("a"));
    byte[] record = leaseRecord().getBytes(ISO_8859_1);
    byte[] name = requireLeaseKey();
    for (int at = 0; at < record.length; at++) {
      byte[] broken = record.clone();
      broken[at] = '~';
      harness.console().command("SET", name, broken, "PX", LONG);
      AcquireReply reply = acquire(ask("b").epoch(5));
      assertThat(reply.status()).as("byte %s", at).isEqualTo(Status.GRANTED);
      assertNewEpoch(reply);
      await(store.invalidate(key, 0));
    }
    harness.console().command("SET", name, record, "PX", LONG);
    assertThat(acquire(ask("b").epoch(5)).status()).isEqualTo(Status.WAIT);
  }

  @Test
  public final void lease_recordWithMoreFields_isReadAndKeepsThem() {
    AcquireReply lease = acquire(ask("a"));
    harness.console().command("APPEND", requireLeaseKey(), " more");
    assertThat(acquire(ask("b")).status()).isEqualTo(Status.WAIT);
    assertThat(await(store.extend(key, owner("a"), lease.epoch(), LONG, GRACE)))
        .isEqualTo(ExtendOutcome.EXTENDED);
    assertThat(leaseRecord()).endsWith(" more");
    assertThat(fill("a", entry(lease, bytes(3)))).isEqualTo(FillOutcome.STORED);
  }

  @Test
  public final void headerMutations_anyBytes_areJudgedAlikeByScriptsAndReader() {
    byte[] valid = storedBytes(fresh());
    for (int i = 0; i < MUTATIONS; i++) {
      assertJudgedAlike(mutate(valid));
    }
  }

  @Test
  public final void headerMutations_eachByte_isJudgedAlikeByScriptsAndReader() {
    byte[] valid = storedBytes(fresh());
    for (int at = 0; at < 99; at++) {
      for (byte each : "09aFgNC-T .".getBytes(UTF_8)) {
        byte[] mutated = valid.clone();
        mutated[at] = each;
        assertJudgedAlike(mutated);
      }
    }
  }

  private void assertJudgedAlike(byte[] bytes) {
    String described = "seed " + SEED + ", bytes " + new String(bytes, ISO_8859_1);
    harness.console().command("SET", key.bytes(), bytes, "PX", LONG);

    ReadReply byReader = read();
    AcquireReply byScript = acquire(ask("a"));
    if (byReader instanceof ReadReply.Found found) {
      assertThat(byScript.unreadable()).as(described).isFalse();
      assertSame(requireNonNull(byScript.entry(), described), found.entry());
      assertThat(byScript.status()).as(described).isIn(Status.HIT, Status.STALE_GRANTED);
    } else {
      assertThat(byScript.unreadable()).as(described).isTrue();
      assertThat(byScript.status()).as(described).isEqualTo(Status.GRANTED);
    }
    await(store.expire(key, 0));
    ReadReply expired = read();
    if (byReader instanceof ReadReply.Found found) {
      assertThat(expired).as(described).isInstanceOf(ReadReply.Found.class);
      assertThat(((ReadReply.Found) expired).entry().payload())
          .as(described)
          .isEqualTo(found.entry().payload());
    } else {
      assertThat(expired).as(described).isEqualTo(ReadReply.MISSING);
    }
  }

  private byte[] mutate(byte[] valid) {
    String alphabet = "0123456789abcdefghVNCT- PDK\n\0.+x";
    byte[] mutated = valid.clone();
    int kind = random.nextInt(10);
    if (kind == 0) {
      return Arrays.copyOf(valid, random.nextInt(valid.length));
    }
    if (kind == 1) {
      // A longer header, as a later version may write, and lengths beyond the value.
      byte[] length = digits(95 + random.nextInt(20), 4);
      System.arraycopy(length, 0, mutated, 5, length.length);
      return mutated;
    }
    for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
      int at = random.nextInt(100);
      mutated[at] =
          random.nextBoolean()
              ? (byte) alphabet.charAt(random.nextInt(alphabet.length()))
              : (byte) random.nextInt(256);
    }
    return mutated;
  }

  // Keys

  @Test
  public final void keys_ofAnyBytes_workAndShareASlotWithTheirLease() {
    List<byte[]> names = new ArrayList<>();
    for (String text :
        new String[] {
          "c:",
          "c: ",
          "c:a b",
          "c:}",
          "c:}a",
          "c:a}b",
          "c:{a}",
          "c:{}",
          "c:{}a",
          "c:{",
          "c:x{y}z",
          "c:{{a}}",
          "{c}:{d}",
          "c:\n",
          "c:\r\n*1\r\n",
          "c:\0",
          "c:\"'\\",
          "c:%d%s",
          "c:\u00e9\u4e16",
          "c:\ud83d\ude00",
          "c:*?[",
          "pdk:{x}:c:k",
          "c:" + "long".repeat(16 * 1024)
        }) {
      names.add(text.getBytes(UTF_8));
    }
    names.add(new byte[0]);
    for (int i = 0; i < 10; i++) {
      names.add(bytes(1 + random.nextInt(40)));
    }
    for (byte[] name : names) {
      StoreKey each = StoreKey.of(name);
      String described = "seed " + SEED + ", key " + each;
      AcquireReply lease = await(store.acquire(ask("a").on(each).build()));
      assertThat(lease.status()).as(described).isEqualTo(Status.GRANTED);
      StoreKey record = leaseKey(each);
      assertThat(record).as(described).isNotNull();
      assertThat(ClusterSlots.of(requireNonNull(record).bytes()))
          .as(described)
          .isEqualTo(ClusterSlots.of(name));
      StoredEntry entry = entry(lease, bytes(9));
      assertThat(await(store.fill(new FillRequest(each, owner("a"), entry, LONG))))
          .as(described)
          .isEqualTo(FillOutcome.STORED);
      assertSame(((ReadReply.Found) await(store.read(each))).entry(), entry);
      await(store.invalidate(each, 0));
      assertThat(await(store.read(each))).as(described).isEqualTo(ReadReply.MISSING);
    }
    assertThat(harness.console().snapshot()).isEmpty();
  }

  @Test
  public final void keys_different_neverShareALease() {
    assertThat(await(store.acquire(ask("a").on(StoreKey.of("c:1")).build())).granted()).isTrue();
    assertThat(await(store.acquire(ask("b").on(StoreKey.of("c:2")).build())).granted()).isTrue();
    assertThat(await(store.acquire(ask("c").on(StoreKey.of("c:")).build())).granted()).isTrue();
  }

  // Hints

  @Test
  public final void hints_whenSomebodyWaits_comeForWhateverEndsTheWait() {
    FillStore other = open(harness.environment());
    List<Consumer<AcquireReply>> endings =
        List.of(
            lease -> fill("a", entry(lease, bytes(9))),
            lease -> release("a", 0),
            lease -> put(fresh()),
            lease -> await(store.invalidate(key, 0)),
            lease -> await(store.expire(key, 0)));
    for (int i = 0; i < endings.size(); i++) {
      AtomicInteger hints = new AtomicInteger();
      HintSubscription subscription = other.subscribe(key, entry -> hints.incrementAndGet());
      assertThat(await(subscription.ready())).isTrue();
      AcquireReply lease = grant("a");
      assertThat(acquire(ask("waiter")).status()).isEqualTo(Status.WAIT);
      endings.get(i).accept(lease);
      harness.awaitUntil("the hint of ending " + i, () -> hints.get() > 0);
      subscription.close();
      await(store.invalidate(key, 0));
    }
  }

  @Test
  public final void hints_ofAFill_carryTheEntryIfItIsShort() {
    FillStore other = open(harness.environment());
    List<StoredEntry> told = new CopyOnWriteArrayList<>();
    AtomicInteger empty = new AtomicInteger();
    HintSubscription subscription =
        other.subscribe(
            key,
            entry -> {
              if (entry == null) {
                empty.incrementAndGet();
              } else {
                told.add(entry);
              }
            });
    assertThat(await(subscription.ready())).isTrue();
    StoredEntry shortOne = entry(grant("a"), bytes(9));
    acquire(ask("waiter"));
    fill("a", shortOne);
    harness.awaitUntil("the entry", () -> !told.isEmpty());
    assertSame(told.get(0), shortOne);
    await(store.invalidate(key, 0));
    StoredEntry longOne = entry(grant("a"), bytes(4097));
    acquire(ask("waiter"));
    fill("a", longOne);
    harness.awaitUntil("the hint without it", () -> empty.get() > 0);
    assertThat(told).hasSize(1);
    subscription.close();
  }

  @Test
  public final void hints_forAWaiterWithAStaleValue_comeToo() {
    AtomicInteger hints = new AtomicInteger();
    assertThat(await(store.subscribe(key, entry -> hints.incrementAndGet()).ready())).isTrue();
    put(stale());
    AcquireReply lease = acquire(ask("a"));
    assertThat(acquire(ask("waiter")).status()).isEqualTo(Status.STALE);
    fill("a", entry(lease, bytes(9)));
    harness.awaitUntil("the hint", () -> hints.get() > 0);
  }

  @Test
  public final void hints_whenNobodyWaits_areNotSent() {
    AtomicInteger hints = new AtomicInteger();
    AtomicInteger sentinels = new AtomicInteger();
    StoreKey sentinel = StoreKey.of("tck:cache:sentinel");
    assertThat(await(store.subscribe(key, entry -> hints.incrementAndGet()).ready())).isTrue();
    assertThat(await(store.subscribe(sentinel, entry -> sentinels.incrementAndGet()).ready()))
        .isTrue();
    AcquireReply lease = grant("a");
    fill("a", entry(lease, bytes(9)));
    put(fresh());
    await(store.expire(key, 0));
    await(store.invalidate(key, 0));
    // One connection carries all hints in their order: what comes before this one has come.
    hintFor(sentinel);
    harness.awaitUntil("the sentinel", () -> sentinels.get() > 0);
    assertThat(hints).hasValue(0);
  }

  @Test
  public final void hints_ofAClosedSubscription_comeNoMore() {
    AtomicInteger closed = new AtomicInteger();
    AtomicInteger kept = new AtomicInteger();
    HintSubscription subscription = store.subscribe(key, entry -> closed.incrementAndGet());
    HintSubscription other = store.subscribe(key, entry -> kept.incrementAndGet());
    assertThat(await(subscription.ready())).isTrue();
    assertThat(await(other.ready())).isTrue();
    subscription.close();
    subscription.close();
    hintFor(key);
    harness.awaitUntil("the hint", () -> kept.get() > 0);
    assertThat(closed).hasValue(0);
    other.close();
  }

  @Test
  public final void hints_withoutTheRightToTheChannel_areMissedAndEverythingElseWorks() {
    AcquireReply lease = grant("a");
    acquire(ask("b"));
    harness.console().command("ACL", "SETUSER", "default", "resetchannels");
    try {
      FillStore other = open(harness.environment());
      HintSubscription refused = other.subscribe(key, entry -> {});
      assertThat(await(refused.ready())).isFalse();
      refused.close();
      assertThat(await(other.fill(new FillRequest(key, owner("a"), entry(lease, bytes(9)), LONG))))
          .isEqualTo(FillOutcome.STORED);
      assertThat(await(other.read(key))).isInstanceOf(ReadReply.Found.class);
      await(other.invalidate(key, 0));
    } finally {
      harness.console().command("ACL", "SETUSER", "default", "allchannels");
    }
  }

  // Barriers and changes

  private static final byte[] SPACE = "tck:cache:".getBytes(UTF_8);
  private static final StoreKey SPACED = StoreKey.of(SPACE, "key".getBytes(UTF_8));
  private static final StoreKey BARRIER = StoreKey.of("pdk:tag:tck:cache:red");

  private long raise(long ahead) {
    return await(store.raiseBarrier(new BarrierRequest(BARRIER, SPACE, "tred", ahead, LONG)));
  }

  private long barrier() {
    ReadReply reply = await(store.read(BARRIER));
    assertThat(reply).isInstanceOf(ReadReply.Found.class);
    return ((ReadReply.Found) reply).entry().loadStartMillis();
  }

  /** Tests that a barrier is read as it was raised, and is one of the server's clock. */
  @Test
  public final void barrier_raised_isReadAsTheLoadStartOfAnEntry() {
    long before = store.earliestMillis(BARRIER);
    long raised = raise(500);
    assertThat(barrier()).isEqualTo(raised);
    assertThat(raised).isGreaterThanOrEqualTo(before + 500);
    assertThat(raised - 500).isLessThanOrEqualTo(store.nowMillis(BARRIER) + 1);
  }

  /** Tests that a barrier only rises. */
  @Test
  public final void barrier_raisedLessFar_stays() {
    long far = raise(LONG);
    assertThat(raise(0)).isEqualTo(far);
    assertThat(barrier()).isEqualTo(far);
  }

  /** Tests that a barrier keeps the longer of two TTLs. */
  @Test
  public final void barrier_raisedForLess_lastsAsLongAsBefore() {
    await(store.raiseBarrier(new BarrierRequest(BARRIER, SPACE, "tred", 0, GRACE)));
    raise(0);
    assertThat(requireNonNull(harness.console().snapshot().get(BARRIER)).ttlMillis())
        .isGreaterThan(LONG);
  }

  /** Tests that what is none of ours does not hold up a barrier. */
  @Test
  public final void barrier_overSomethingElse_takesItsPlace() {
    for (String[] other :
        List.of(
            new String[] {"SET", BARRIER.toString(), "foreign"},
            new String[] {"HSET", BARRIER.toString(), "f", "foreign"})) {
      harness.console().command("DEL", BARRIER.toString());
      harness.console().command((Object[]) other);
      long raised = raise(0);
      assertThat(barrier()).isEqualTo(raised);
    }
  }

  /** Tests which changes are told, and in which form. */
  @Test
  public final void watch_changesOfASpace_areToldToOthersAndNoFills() {
    FillStore other = open(harness.environment());
    List<String> told = new CopyOnWriteArrayList<>();
    HintSubscription watch =
        other.watch(
            SPACE,
            new ChangeListener() {
              @Override
              public void changed(StoreKey changed) {
                told.add("changed " + changed);
              }

              @Override
              public void raised(String label, long barrierMillis) {
                told.add(label + " " + barrierMillis);
              }

              @Override
              public void missed() {
                told.add("missed");
              }
            });
    assertThat(await(watch.ready())).isTrue();
    AcquireReply lease = await(store.acquire(ask("a").on(SPACED).build()));
    await(store.fill(new FillRequest(SPACED, owner("a"), entry(lease, bytes(9)), LONG)));
    await(store.put(SPACED, fresh(), LONG, LONG));
    await(store.expire(SPACED, 0));
    await(store.invalidate(SPACED, 0));
    // Another space.
    await(store.invalidate(key, 0));
    long raised = raise(0);
    harness.awaitUntil("the last message", () -> told.contains("tred " + raised));
    assertThat(told)
        .containsExactly(
            "changed tck:cache:key",
            "changed tck:cache:key",
            "changed tck:cache:key",
            "tred " + raised);
    watch.close();
  }

  /** Makes somebody wait for a key, and ends the wait. */
  private void hintFor(StoreKey of) {
    await(store.acquire(ask("hint-holder").on(of).build()));
    await(store.acquire(ask("hint-waiter").on(of).build()));
    await(store.invalidate(of, 0));
  }

  // Scripts, clocks, clients

  @Test
  public final void scriptFlush_beforeEachOperation_goesUnnoticed() {
    Runnable flush = () -> harness.console().command("SCRIPT", "FLUSH");
    flush.run();
    AcquireReply lease = grant("a");
    flush.run();
    assertThat(extend("a", lease, LONG, GRACE)).isEqualTo(ExtendOutcome.EXTENDED);
    flush.run();
    assertThat(fill("a", entry(lease, bytes(9)))).isEqualTo(FillOutcome.STORED);
    flush.run();
    assertThat(put(fresh())).isEqualTo(PutOutcome.STORED);
    flush.run();
    await(store.expire(key, 0));
    assertThat(found().softExpiryMillis()).isLessThan(farFuture());
    flush.run();
    await(store.invalidate(key, 0));
    assertThat(read()).isEqualTo(ReadReply.MISSING);
    AcquireReply second = grant("b");
    flush.run();
    assertThat(release("b", 0)).isTrue();
    assertThat(second.granted()).isTrue();
  }

  @Test
  public final void clients_withWrongClocks_agreeByTheServersClock() {
    Environment base = harness.environment();
    FillStore ahead = open(new SkewedEnvironment(base, Duration.ofDays(1)));
    FillStore behind = open(new SkewedEnvironment(base, Duration.ofDays(-400)));
    for (FillStore each : List.of(ahead, behind)) {
      long before = serverMillis();
      long estimate = each.nowMillis(key);
      assertThat(estimate).isBetween(before - 60_000, serverMillis() + 60_000);
    }

    AcquireReply lease = await(ahead.acquire(ask("a").build()));
    assertThat(lease.status()).isEqualTo(Status.GRANTED);
    assertThat(await(behind.acquire(ask("b").build())).status()).isEqualTo(Status.WAIT);
    long soft = ahead.nowMillis(key) + LONG;
    StoredEntry entry =
        new StoredEntry(
            false, false, soft, ahead.nowMillis(key), 1, lease.epoch(), lease.seq(), 1, bytes(9));
    assertThat(await(ahead.fill(new FillRequest(key, owner("a"), entry, 2 * LONG))))
        .isEqualTo(FillOutcome.STORED);
    assertThat(await(behind.acquire(ask("b").build())).status()).isEqualTo(Status.HIT);
    assertThat(await(ahead.acquire(ask("c").build())).status()).isEqualTo(Status.HIT);
    await(behind.expire(key, 0));
    assertThat(await(ahead.acquire(ask("c").build())).status()).isEqualTo(Status.STALE_GRANTED);
  }

  @Test
  public final void clients_clockThatSteps_changesNothing() {
    SkewedEnvironment stepping = new SkewedEnvironment(harness.environment(), Duration.ZERO);
    FillStore other = open(stepping);
    stepping.stepWall(Duration.ofDays(-1000));
    assertThat(other.nowMillis(key)).isBetween(serverMillis() - 60_000, serverMillis() + 60_000);
    assertThat(await(other.acquire(ask("a").build())).status()).isEqualTo(Status.GRANTED);
  }

  // Words for the above

  private Ask ask(String who) {
    return new Ask(who);
  }

  /** An acquire request with long times, unless told otherwise. */
  private final class Ask {
    private final String who;
    private StoreKey on = key;
    private long leaseMillis = LONG;
    private long graceMillis = GRACE;
    private long epoch;
    private Mode mode = Mode.NORMAL;
    private @Nullable StoredEntry seen;
    private boolean degraded;
    private long validForMillis = LONG;

    Ask(String who) {
      this.who = who;
      do {
        epoch = random.nextLong();
      } while ((int) epoch == 0);
    }

    Ask on(StoreKey other) {
      on = other;
      return this;
    }

    Ask lease(long lease, long grace) {
      leaseMillis = lease;
      graceMillis = grace;
      return this;
    }

    Ask epoch(long value) {
      epoch = value;
      return this;
    }

    Ask mode(Mode value, @Nullable StoredEntry toReplace) {
      mode = value;
      seen = toReplace;
      return this;
    }

    Ask degraded() {
      degraded = true;
      return this;
    }

    Ask validFor(long millis) {
      validForMillis = millis;
      return this;
    }

    AcquireRequest build() {
      return new AcquireRequest(
          on, owner(who), leaseMillis, graceMillis, epoch, mode, degraded, seen, validForMillis);
    }
  }

  private AcquireReply acquire(Ask ask) {
    return await(store.acquire(ask.build()));
  }

  private AcquireReply grant(String who) {
    return grant(who, LONG, GRACE);
  }

  private AcquireReply grant(String who, long leaseMillis, long graceMillis) {
    AcquireReply reply = acquire(ask(who).lease(leaseMillis, graceMillis));
    assertThat(reply.status()).isEqualTo(Status.GRANTED);
    return reply;
  }

  private FillOutcome fill(String who, StoredEntry entry) {
    return await(store.fill(new FillRequest(key, owner(who), entry, LONG)));
  }

  private PutOutcome put(StoredEntry entry) {
    return await(store.put(key, entry, LONG, LONG));
  }

  private boolean release(String who, long coolDownMillis) {
    return await(store.release(key, owner(who), coolDownMillis, GRACE));
  }

  private ExtendOutcome extend(String who, AcquireReply lease, long leaseMillis, long grace) {
    return await(store.extend(key, owner(who), lease.epoch(), leaseMillis, grace));
  }

  private ReadReply read() {
    return await(store.read(key));
  }

  private StoredEntry found() {
    ReadReply reply = read();
    assertThat(reply).isInstanceOf(ReadReply.Found.class);
    return ((ReadReply.Found) reply).entry();
  }

  private <T extends @Nullable Object> T await(CompletionStage<T> stage) {
    return harness.await(stage);
  }

  /** 32 hexadecimal digits that are the same for the same name. */
  private static String owner(String who) {
    return Sha1.hex(who.getBytes(UTF_8)).substring(0, 32);
  }

  private StoredEntry fresh() {
    return fresh(new byte[] {1, 2, 3});
  }

  private StoredEntry fresh(byte[] payload) {
    return new StoredEntry(false, false, farFuture(), 1, 1, StoredEntry.NO_EPOCH, 0, 1, payload);
  }

  private StoredEntry stale() {
    return new StoredEntry(
        false, false, 1_000_000_000_000L, 1, 1, StoredEntry.NO_EPOCH, 0, 1, new byte[] {4, 5, 6});
  }

  private StoredEntry entry(AcquireReply lease, byte[] payload) {
    return new StoredEntry(false, false, farFuture(), 1, 1, lease.epoch(), lease.seq(), 1, payload);
  }

  private static long farFuture() {
    return 4_000_000_000_000L;
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] digits(long number, int width) {
    String text = Long.toString(number);
    return ("0".repeat(width - text.length()) + text).getBytes(UTF_8);
  }

  private byte[] storedBytes(StoredEntry entry) {
    put(entry);
    Object bytes = harness.console().command("GET", key.bytes());
    await(store.invalidate(key, 0));
    return (byte[]) requireNonNull(bytes, "nothing stored");
  }

  private void outOfMemory(boolean full) {
    harness.console().command("CONFIG", "SET", "maxmemory", full ? "1" : "0");
  }

  private long serverMillis() {
    List<?> time = (List<?>) requireNonNull(harness.console().command("TIME"), "TIME");
    byte[] seconds = (byte[]) requireNonNull(time.get(0), "seconds");
    return Long.parseLong(new String(seconds, UTF_8)) * 1000;
  }

  private long ttl(StoreKey of) {
    return Long.parseLong(harness.console().text("PTTL", of.bytes()));
  }

  private @Nullable StoreKey leaseKey() {
    return leaseKey(key);
  }

  private byte[] requireLeaseKey() {
    return requireNonNull(leaseKey(), "no lease record").bytes();
  }

  /** Finds the lease record of a key by its name: {@code pdk:{TAG}:<key>}. */
  private @Nullable StoreKey leaseKey(StoreKey of) {
    String suffix = "}:" + latin1(of);
    List<StoreKey> all = new ArrayList<>();
    for (StoreKey each : harness.console().snapshot().keySet()) {
      String name = latin1(each);
      if (name.startsWith("pdk:{")
          && name.endsWith(suffix)
          && name.indexOf('}') == name.length() - suffix.length()) {
        all.add(each);
      }
    }
    assertThat(all).as("lease records of %s", of).hasSizeLessThan(2);
    return all.isEmpty() ? null : all.get(0);
  }

  private static String latin1(StoreKey name) {
    return new String(name.bytes(), ISO_8859_1);
  }

  private long leaseTtl() {
    return ttl(StoreKey.of(requireLeaseKey()));
  }

  private String leaseOwner() {
    return leaseRecord().substring(0, 32);
  }

  private String leaseRecord() {
    Map<StoreKey, KeyState> all = harness.console().snapshot();
    return requireNonNull(
        requireNonNull(all.get(StoreKey.of(requireLeaseKey())), "lease").string(), "record");
  }

  private static void assertSame(StoredEntry actual, StoredEntry expected) {
    Supplier<String> described = () -> "seed " + SEED + ": " + actual + " is not " + expected;
    assertThat(actual.toString()).as(described).isEqualTo(expected.toString());
    assertThat(actual.payload()).as(described).isEqualTo(expected.payload());
  }
}
