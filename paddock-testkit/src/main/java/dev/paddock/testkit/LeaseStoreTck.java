/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.LeaseInspection;
import dev.paddock.LeaseInspection.Verdict;
import dev.paddock.StoreException;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseReply.Status;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseRequest.Waiting;
import dev.paddock.spi.LeaseStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What every {@link LeaseStore} has to do, whatever keeps the leases. A store's tests extend this
 * and say how it is opened.
 *
 * <p>Nothing here depends on the speed of the machine: what must still hold has minutes, what must
 * be over is waited for.
 *
 * @since 0.1.0
 */
public abstract class LeaseStoreTck {
  private static final int ROUNDS = 20;
  private static final int CONTENDERS = 8;

  private final SplittableRandom random = new SplittableRandom();
  private final List<LeaseStore> opened = new ArrayList<>();
  private LeaseStoreHarness harness;
  private LeaseStore store;
  private String name;
  private long longMillis;

  /** For subclasses. */
  protected LeaseStoreTck() {}

  /**
   * Makes a harness on servers without any lease.
   *
   * @return the harness, which the suite closes
   * @throws Exception if that fails
   */
  protected abstract LeaseStoreHarness newHarness() throws Exception;

  /**
   * Opens what each test needs.
   *
   * @throws Exception if that fails
   */
  @BeforeEach
  final void setUp() throws Exception {
    harness = newHarness();
    store = open();
    name = "tck-" + Long.toHexString(random.nextLong());
    longMillis = Math.min(Duration.ofMinutes(10).toMillis(), store.leaseTimeMax().toMillis());
  }

  private LeaseStore open() {
    LeaseStore another = harness.open();
    opened.add(another);
    return another;
  }

  /** Closes all. */
  @AfterEach
  final void tearDown() {
    if (harness != null) {
      opened.forEach(LeaseStore::close);
      harness.close();
    }
  }

  private String newOwner() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  private LeaseReply acquire(LeaseStore by, String lease, String owner, long millis) {
    return harness.await(
        by.acquire(new LeaseRequest(lease, owner, millis, longMillis, Waiting.NOBODY)));
  }

  private LeaseReply granted(LeaseStore by, String owner) {
    LeaseReply reply = acquire(by, name, owner, longMillis);
    assertThat(reply.status()).isEqualTo(Status.GRANTED);
    return reply;
  }

  private boolean release(LeaseStore by, String owner) {
    return harness.await(by.release(name, owner));
  }

  // ---- acquire

  @Test
  final void acquire_freeLease_isGrantedWithTokenAndValidity() {
    LeaseReply reply = acquire(store, name, newOwner(), longMillis);

    assertThat(reply.status()).isEqualTo(Status.GRANTED);
    assertThat(reply.token()).isPositive();
    assertThat(reply.millis()).isBetween(longMillis / 2, longMillis);
  }

  @Test
  final void acquire_heldByAnother_isHeldAndStaysTheHolders() {
    String holder = newOwner();
    LeaseReply first = granted(store, holder);

    LeaseReply second = acquire(open(), name, newOwner(), longMillis);

    assertThat(second.status()).isEqualTo(Status.HELD);
    assertThat(second.token()).isZero();
    assertThat(second.millis()).isBetween(0L, 2 * longMillis);
    assertThat(harness.await(store.extend(name, holder, first.token(), longMillis)).extended())
        .isTrue();
  }

  @Test
  final void acquire_heldBySameProcess_isHeld() {
    granted(store, newOwner());

    assertThat(acquire(store, name, newOwner(), longMillis).status()).isEqualTo(Status.HELD);
  }

  @Test
  final void acquire_replayOfTheSameRequest_isTheSameLeaseAndToken() {
    String owner = newOwner();
    LeaseReply first = granted(store, owner);

    assertThat(granted(store, owner).token()).isEqualTo(first.token());
  }

  @Test
  final void acquire_manyAtOnce_oneIsGrantedAtMost() {
    for (int round = 0; round < ROUNDS; round++) {
      List<String> owners = new ArrayList<>();
      List<CompletionStage<LeaseReply>> replies = new ArrayList<>();
      for (int i = 0; i < CONTENDERS; i++) {
        String owner = newOwner();
        owners.add(owner);
        replies.add(
            store.acquire(new LeaseRequest(name, owner, longMillis, longMillis, Waiting.NOBODY)));
      }
      int grants = 0;
      for (CompletionStage<LeaseReply> reply : replies) {
        grants += harness.await(reply).status() == Status.GRANTED ? 1 : 0;
      }
      assertThat(grants).isLessThanOrEqualTo(1);
      owners.forEach(owner -> release(store, owner));
    }
  }

  @Test
  final void acquire_otherName_isIndependent() {
    granted(store, newOwner());

    assertThat(acquire(store, name + "-2", newOwner(), longMillis).status())
        .isEqualTo(Status.GRANTED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "{a}", "}a", "a}b{c", "/a/b//c", "..", "a b", "ä€𝄞", "%2F", "*?[x]"})
  final void acquire_anyName_isGrantedHeldAndReleased(String odd) {
    String owner = newOwner();
    assertThat(acquire(store, odd, owner, longMillis).status()).isEqualTo(Status.GRANTED);
    assertThat(acquire(store, odd, newOwner(), longMillis).status()).isEqualTo(Status.HELD);
    assertThat(harness.await(store.release(odd, owner))).isTrue();
    String next = newOwner();
    assertThat(acquire(store, odd, next, longMillis).status()).isEqualTo(Status.GRANTED);
    assertThat(harness.await(store.release(odd, next))).isTrue();
  }

  @Test
  final void acquire_longestName_isGranted() {
    String owner = newOwner();
    String longest = "€".repeat(200);
    assertThat(acquire(store, longest, owner, longMillis).status()).isEqualTo(Status.GRANTED);
    assertThat(harness.await(store.release(longest, owner))).isTrue();
  }

  // ---- tokens

  @Test
  final void token_fromHolderToHolder_grows() {
    LeaseStore another = open();
    long last = 0;
    for (int round = 0; round < ROUNDS; round++) {
      LeaseStore by = round % 2 == 0 ? store : another;
      String owner = newOwner();
      long token = granted(by, owner).token();
      assertThat(token).isGreaterThan(last);
      last = token;
      assertThat(release(by, owner)).isTrue();
    }
  }

  @Test
  final void token_afterExpiry_grows() {
    LeaseReply first = acquire(store, name, newOwner(), harness.shortLease().toMillis());
    assertThat(first.status()).isEqualTo(Status.GRANTED);

    assertThat(acquireInTime(open(), newOwner()).token()).isGreaterThan(first.token());
  }

  /** Tries until the lease is granted. */
  private LeaseReply acquireInTime(LeaseStore by, String owner) {
    LeaseReply[] last = new LeaseReply[1];
    harness.awaitUntil(
        "the lease to run out",
        () -> {
          last[0] = acquire(by, name, owner, longMillis);
          return last[0].status() == Status.GRANTED;
        });
    return last[0];
  }

  // ---- expiry

  @Test
  final void expiry_holderSilent_leaseIsAnothersNotBeforeItsValidityEnded() {
    long millis = harness.shortLease().toMillis();
    long before = System.nanoTime();
    LeaseReply first = acquire(store, name, newOwner(), millis);
    assertThat(first.status()).isEqualTo(Status.GRANTED);
    assertThat(first.millis()).isBetween(1L, millis);

    acquireInTime(open(), newOwner());

    if (harness.isRealTime()) {
      assertThat(System.nanoTime() - before).isGreaterThan(first.millis() * 1_000_000L);
    }
  }

  @Test
  final void expiry_holdersOperations_areRefusedWithoutEffect() {
    String old = newOwner();
    LeaseReply first = acquire(store, name, old, harness.shortLease().toMillis());
    LeaseStore another = open();
    String next = newOwner();
    LeaseReply second = acquireInTime(another, next);

    assertThat(harness.await(store.extend(name, old, first.token(), longMillis)))
        .isEqualTo(LeaseExtension.LOST);
    assertThat(release(store, old)).isFalse();
    assertThat(harness.await(another.extend(name, next, second.token(), longMillis)).extended())
        .isTrue();
  }

  @Test
  final void expiry_nobodyNew_extensionDoesNotRecreateIt() {
    String owner = newOwner();
    LeaseReply first = acquire(store, name, owner, harness.shortLease().toMillis());
    harness.awaitUntil(
        "the lease to run out", () -> harness.await(store.inspect(name)).verdict() == Verdict.FREE);

    assertThat(harness.await(store.extend(name, owner, first.token(), longMillis)))
        .isEqualTo(LeaseExtension.LOST);
    assertThat(acquire(open(), name, newOwner(), longMillis).status()).isEqualTo(Status.GRANTED);
  }

  // ---- extend

  @Test
  final void extend_heldLease_lastsLongerAndKeepsItsToken() {
    String owner = newOwner();
    LeaseReply first = acquire(store, name, owner, harness.shortLease().toMillis());

    LeaseExtension extension =
        harness.await(store.extend(name, owner, first.token(), store.leaseTimeMin().toMillis()));
    assertThat(extension.extended()).isTrue();
    // However long that took: extend by minutes, then wait out the first time.
    extension = harness.await(store.extend(name, owner, first.token(), longMillis));
    assertThat(extension.extended()).isTrue();
    assertThat(extension.millis()).isBetween(1L, longMillis);
    harness.passTime(harness.shortLease().multipliedBy(2));
    if (extension.millis() > 4 * harness.shortLease().toMillis()) {
      assertThat(acquire(open(), name, newOwner(), longMillis).status()).isEqualTo(Status.HELD);
      assertThat(node().token()).isEqualTo(first.token());
    }
  }

  private LeaseInspection.Node node() {
    return harness.await(store.inspect(name)).nodes().stream()
        .filter(node -> node.owner() != null)
        .findFirst()
        .orElseThrow();
  }

  @Test
  final void extend_byAShorterTime_doesNotShorten() {
    String owner = newOwner();
    LeaseReply first = granted(store, owner);

    harness.await(store.extend(name, owner, first.token(), store.leaseTimeMin().toMillis()));

    harness.passTime(store.leaseTimeMin().multipliedBy(2));
    assertThat(acquire(open(), name, newOwner(), longMillis).status()).isEqualTo(Status.HELD);
  }

  @Test
  final void extend_byAnotherOwner_isLostAndChangesNothing() {
    String owner = newOwner();
    LeaseReply first = granted(store, owner);

    assertThat(harness.await(open().extend(name, newOwner(), first.token(), longMillis)))
        .isEqualTo(LeaseExtension.LOST);
    assertThat(release(store, owner)).isTrue();
  }

  @Test
  final void extend_neverAcquired_isLostAndMakesNothing() {
    assertThat(harness.await(store.extend(name, newOwner(), 1, longMillis)))
        .isEqualTo(LeaseExtension.LOST);
    assertThat(harness.await(store.inspect(name)).verdict()).isEqualTo(Verdict.FREE);
  }

  // ---- release

  @Test
  final void release_byItsOwner_freesItOnce() {
    String owner = newOwner();
    granted(store, owner);

    assertThat(release(store, owner)).isTrue();
    assertThat(release(store, owner)).isFalse();
    granted(open(), newOwner());
  }

  @Test
  final void release_byAnother_leavesIt() {
    granted(store, newOwner());

    assertThat(release(open(), newOwner())).isFalse();
    assertThat(acquire(store, name, newOwner(), longMillis).status()).isEqualTo(Status.HELD);
  }

  @Test
  final void release_neverAcquired_isFalse() {
    assertThat(release(store, newOwner())).isFalse();
  }

  // ---- hints

  @Test
  final void hint_releaseWhileSomebodyWaits_arrives() {
    String owner = newOwner();
    granted(store, owner);
    LeaseStore waiter = open();
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription = waiter.subscribe(name, hints::incrementAndGet);
    assertThat(harness.await(subscription.ready())).isTrue();
    assertThat(
            harness
                .await(
                    waiter.acquire(
                        new LeaseRequest(
                            name, newOwner(), longMillis, longMillis, Waiting.REQUESTER)))
                .status())
        .isEqualTo(Status.HELD);
    int before = hints.get();

    release(store, owner);

    harness.awaitUntil("a hint", () -> hints.get() > before);
    subscription.close();
    subscription.close();
  }

  // ---- inspect

  @Test
  final void inspect_freeThenHeldThenFree_saysSo() {
    assertThat(harness.await(store.inspect(name)).verdict()).isEqualTo(Verdict.FREE);
    String owner = newOwner();
    LeaseReply reply = granted(store, owner);

    LeaseInspection held = harness.await(open().inspect(name));
    assertThat(held.name()).isEqualTo(name);
    assertThat(held.verdict()).isEqualTo(Verdict.HELD);
    assertThat(node().owner()).isEqualTo(owner);
    assertThat(node().token()).isEqualTo(reply.token());
    assertThat(held.nodes()).allMatch(node -> node.error() == null);

    release(store, owner);
    assertThat(harness.await(store.inspect(name)).verdict()).isEqualTo(Verdict.FREE);
  }

  // ---- close

  @Test
  final void close_thenAnyOperation_failsAndHasNotHappened() {
    LeaseStore closed = open();
    closed.close();
    closed.close();

    assertClosed(
        closed.acquire(new LeaseRequest(name, newOwner(), longMillis, longMillis, Waiting.NOBODY)));
    assertClosed(closed.extend(name, newOwner(), 1, longMillis));
    assertClosed(closed.release(name, newOwner()));
    assertClosed(closed.inspect(name));
    assertThat(harness.await(closed.subscribe(name, () -> {}).ready())).isFalse();
  }

  private void assertClosed(CompletionStage<?> stage) {
    assertThatThrownBy(() -> harness.await(stage))
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("closed")
        .matches(error -> !((StoreException) error).mayHaveHappened());
  }
}
