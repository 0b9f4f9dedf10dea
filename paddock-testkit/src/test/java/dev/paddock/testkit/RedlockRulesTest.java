/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.LeaseInspection;
import dev.paddock.LeaseInspection.Verdict;
import dev.paddock.StoreException;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.RedlockNode;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseReply.Status;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseRequest.Waiting;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each rule of Redlock by itself, on five servers of the model in virtual time. */
final class RedlockRulesTest {
  private static final String NAME = "job";
  private static final String LEASE = "pdk:{redlock}:l:" + NAME;
  private static final String COUNTERS = "pdk:{redlock}:c";
  private static final String EPOCH = "pdk:{redlock}:e";
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final long LEASE_MILLIS = 20_000;
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration TIMEOUT = InMemoryRedlock.COMMAND_TIMEOUT;

  /** Beyond any server's time in microseconds, and beyond what a double holds exactly. */
  private static final long HIGH = 9_007_199_254_740_993L;

  private final VirtualEnvironment env = new VirtualEnvironment(11);
  private final InMemoryRedlock redlock = new InMemoryRedlock(env, 5, LONGEST);
  private final List<Function<RedisRequest, RequestFate>> net = new ArrayList<>();
  private final List<RedisRequest> seen = new ArrayList<>();
  private final List<LeaseStore> opened = new ArrayList<>();
  private int owners;

  RedlockRulesTest() {
    for (int i = 0; i < 5; i++) {
      int index = i;
      net.add(request -> RequestFate.DELIVERED);
      redlock
          .server(i)
          .setInterceptor(
              request -> {
                seen.add(request);
                return net.get(index).apply(request);
              });
    }
  }

  @AfterEach
  void closeAll() {
    opened.forEach(LeaseStore::close);
    redlock.close();
  }

  private RedlockLeaseStore open() {
    RedlockLeaseStore store = redlock.open();
    opened.add(store);
    return store;
  }

  private RedlockLeaseStore openNew() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    return open();
  }

  /** Requests to these servers get lost. */
  private void cut(int... servers) {
    for (int server : servers) {
      net.set(server, request -> RequestFate.LOST_REQUEST);
    }
  }

  private void heal() {
    net.replaceAll(each -> request -> RequestFate.DELIVERED);
  }

  private String owner() {
    return String.format("%032x", ++owners);
  }

  private CompletionStage<LeaseReply> ask(LeaseStore store, String owner) {
    return store.acquire(
        new LeaseRequest(NAME, owner, LEASE_MILLIS, 2 * TIMEOUT.toMillis(), Waiting.REQUESTER));
  }

  private LeaseReply acquire(LeaseStore store, String owner) {
    return env.await(ask(store, owner), LIMIT);
  }

  private long granted(LeaseStore store, String owner) {
    LeaseReply reply = acquire(store, owner);
    assertThat(reply.status()).isEqualTo(Status.GRANTED);
    return reply.token();
  }

  private StoreException refused(LeaseStore store) {
    Throwable error = failure(ask(store, owner()));
    assertThat(error).isInstanceOf(StoreException.class);
    return (StoreException) error;
  }

  private Throwable failure(CompletionStage<?> stage) {
    try {
      env.await(stage, LIMIT);
    } catch (CompletionException e) {
      return requireNonNull(e.getCause());
    }
    throw new AssertionError("it did not fail");
  }

  private void release(LeaseStore store, String owner) {
    assertThat(env.await(store.release(NAME, owner), LIMIT)).isTrue();
  }

  private @Nullable String holderOn(int server) {
    KeyState lease = redlock.server(server).snapshot().get(StoreKey.of(LEASE));
    return lease == null ? null : lease.fields().get("o");
  }

  private void setCounter(int server, long value) {
    int bucket = slotHash() % 1024;
    redlock.server(server).command("HSET", COUNTERS, bucket, value);
  }

  private static int slotHash() {
    // The model's slot is the same checksum modulo 16384.
    return ClusterSlots.of(NAME.getBytes(UTF_8));
  }

  private long runs(String script) {
    return seen.stream().filter(request -> request.runs("-- " + script + ":")).count();
  }

  private boolean votes(int server) {
    KeyState epoch = redlock.server(server).snapshot().get(StoreKey.of(EPOCH));
    return epoch != null
        && epoch.fields().containsKey("f")
        && redlock.server(server).text("INFO", "server").contains(epoch.fields().get("r"));
  }

  private void awaitVote(int server) {
    env.runUntil(() -> votes(server), LIMIT);
  }

  // ---- tokens

  @Test
  void votes_alike_areGrantedInOneRound() {
    RedlockLeaseStore store = openNew();
    long first = granted(store, owner());

    assertThat(runs("REDLOCK_COMMIT")).isZero();
    assertThat(first).isGreaterThan(env.wallMillis() * 1000 - 1_000_000_000L);
  }

  @Test
  void votes_ofDifferentTokens_areCommittedToTheGreatest() {
    RedlockLeaseStore store = openNew();
    setCounter(0, HIGH);

    String first = owner();
    cut(3, 4);
    assertThat(granted(store, first)).isEqualTo(HIGH + 1);
    release(store, first);
    heal();
    cut(0);

    assertThat(granted(open(), owner())).isEqualTo(HIGH + 2);
  }

  @Test
  void token_beyondWhatADoubleHolds_isExact() {
    RedlockLeaseStore store = openNew();
    for (int i = 0; i < 5; i++) {
      setCounter(i, HIGH + 2L * i);
    }
    long last = 0;
    for (int i = 0; i < 4; i++) {
      String owner = owner();
      long token = granted(store, owner);
      assertThat(token).isEqualTo(last == 0 ? token : last + 1).isGreaterThan(HIGH);
      last = token;
      release(store, owner);
    }
  }

  @Test
  void commit_onAServerThatVotedLaterAndHigher_isTriedAgainWithItsToken() {
    RedlockLeaseStore store = openNew();
    setCounter(0, HIGH);
    setCounter(4, HIGH + 1000);
    cut(3);
    net.set(
        2,
        request ->
            request.runs("-- REDLOCK_COMMIT:")
                ? RequestFate.NOT_SENT.delayed(Duration.ofMillis(50), Duration.ZERO)
                : RequestFate.DELIVERED);
    net.set(
        4,
        request ->
            request.runs("-- REDLOCK_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ZERO, Duration.ofMillis(30))
                : RequestFate.DELIVERED);

    assertThat(granted(store, owner())).isEqualTo(HIGH + 1001);
  }

  @Test
  void commit_afterTheLeaseHasGoneToAnother_isRefusedAndChangesNothing() {
    RedlockLeaseStore store = openNew();
    setCounter(0, HIGH);
    for (int i = 0; i < 5; i++) {
      net.set(
          i,
          request ->
              request.runs("-- REDLOCK_COMMIT:")
                      && new String(request.args().get(0), US_ASCII).endsWith("1")
                  ? RequestFate.DELIVERED.delayed(Duration.ofMillis(300), Duration.ZERO)
                  : RequestFate.DELIVERED);
    }
    CompletionStage<LeaseReply> slow =
        store.acquire(new LeaseRequest(NAME, owner(), 100, 1_000, Waiting.NOBODY));
    env.advance(Duration.ofMillis(150));
    RedlockLeaseStore other = open();
    String next = owner();
    long token = granted(other, next);

    assertThat(env.await(slow, LIMIT).status()).isEqualTo(Status.HELD);
    assertThat(token).isGreaterThan(HIGH + 1);
    env.advance(Duration.ofSeconds(1));
    for (int i = 0; i < 5; i++) {
      assertThat(holderOn(i)).isEqualTo(next);
      assertThat(redlock.server(i).text("HGET", LEASE, "g")).endsWith(Long.toString(token));
    }
  }

  @Test
  void acquire_thatArrivesTwice_countsOnceAndKeepsItsLease() {
    RedlockLeaseStore store = openNew();
    for (int i = 0; i < 5; i++) {
      net.set(i, request -> RequestFate.DELIVERED.repeated(Duration.ofMillis(10)));
    }
    String first = owner();
    long token = granted(store, first);
    env.advance(Duration.ofMillis(20));
    heal();
    assertThat(redlock.server(0).text("HGET", LEASE, "o")).isEqualTo(first);
    release(store, first);

    assertThat(granted(store, owner())).isEqualTo(token + 1);
  }

  // ---- slow and dead servers

  @Test
  void deadMinority_majorityAnswers_nobodyWaitsForIt() {
    RedlockLeaseStore store = openNew();
    cut(1, 3);
    long before = env.elapsedNanos();

    String owner = owner();
    long token = granted(store, owner);
    assertThat(env.await(store.extend(NAME, owner, token, LEASE_MILLIS), LIMIT).extended())
        .isTrue();
    release(store, owner);

    assertThat(env.elapsedNanos()).isEqualTo(before);
  }

  @Test
  void deadMajority_acquire_failsWithinOneTimeoutAndLeavesNothing() {
    RedlockLeaseStore store = openNew();
    cut(0, 1, 2);
    long before = env.elapsedNanos();

    StoreException error = refused(store);

    assertThat(Duration.ofNanos(env.elapsedNanos() - before)).isEqualTo(TIMEOUT);
    assertThat(error)
        .hasMessageContaining("3 of 5 are needed")
        .hasMessageContaining("server-0:6379: no answer within 500 ms");
    env.advance(Duration.ofMillis(1));
    assertThat(holderOn(3)).isNull();
    assertThat(holderOn(4)).isNull();
  }

  @Test
  void oneDeadServer_votesSplit_costsItsTimeoutOnce() {
    RedlockLeaseStore store = openNew();
    String other = owner();
    for (int i = 0; i < 2; i++) {
      redlock.server(i).command("HSET", LEASE, "o", other, "g", "1");
      redlock.server(i).command("PEXPIRE", LEASE, LEASE_MILLIS);
    }
    cut(4);
    long before = env.elapsedNanos();

    assertThat(acquire(store, owner()).status()).isEqualTo(Status.HELD);

    assertThat(Duration.ofNanos(env.elapsedNanos() - before)).isEqualTo(TIMEOUT);
    env.advance(Duration.ofMillis(1));
    assertThat(holderOn(0)).isEqualTo(other);
    assertThat(holderOn(2)).isNull();
    assertThat(holderOn(3)).isNull();
  }

  @Test
  void vote_thatArrivesAfterTheRefusal_isGivenBack() {
    RedlockLeaseStore store = openNew();
    cut(0, 1, 2);
    net.set(
        3,
        request ->
            request.runs("-- REDLOCK_ACQUIRE:")
                ? RequestFate.DELIVERED.delayed(Duration.ofMillis(700), Duration.ZERO)
                : RequestFate.DELIVERED);

    refused(store);
    heal();
    env.advance(Duration.ofSeconds(1));

    for (int i = 0; i < 5; i++) {
      assertThat(holderOn(i)).isNull();
    }
  }

  @Test
  void request_thatArrivesAfterItsTime_getsNoVote() {
    RedlockLeaseStore store = openNew();
    for (int i = 0; i < 5; i++) {
      net.set(
          i,
          request ->
              request.runs("-- REDLOCK_ACQUIRE:")
                  ? RequestFate.LOST_REPLY.delayed(Duration.ofSeconds(3), Duration.ZERO)
                  : RequestFate.DELIVERED);
    }

    refused(store);
    env.advance(Duration.ofSeconds(5));

    for (int i = 0; i < 5; i++) {
      assertThat(holderOn(i)).isNull();
    }
  }

  // ---- extend, release

  @Test
  void extend_minorityHasLostIt_isExtendedAndNotMadeAnewThere() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    long token = granted(store, owner);
    redlock.server(0).command("DEL", LEASE);
    redlock.server(1).command("DEL", LEASE);

    LeaseExtension extension = env.await(store.extend(NAME, owner, token, LEASE_MILLIS), LIMIT);

    assertThat(extension.extended()).isTrue();
    assertThat(extension.millis()).isEqualTo(LEASE_MILLIS - LEASE_MILLIS / 100 - 2);
    assertThat(holderOn(0)).isNull();
    assertThat(holderOn(1)).isNull();
    assertThat(holderOn(2)).isEqualTo(owner);
  }

  @Test
  void extend_majorityHasLostIt_isLost() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    long token = granted(store, owner);
    for (int i = 0; i < 3; i++) {
      redlock.server(i).command("DEL", LEASE);
    }

    assertThat(env.await(store.extend(NAME, owner, token, LEASE_MILLIS), LIMIT))
        .isEqualTo(LeaseExtension.LOST);
  }

  @Test
  void extend_noMajorityEitherWay_isUnknown() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    long token = granted(store, owner);
    redlock.server(1).command("DEL", LEASE);
    redlock.server(4).command("DEL", LEASE);
    net.set(0, request -> RequestFate.NOT_SENT);

    Throwable error = failure(store.extend(NAME, owner, token, LEASE_MILLIS));

    assertThat(error)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("2 extended it, 2 do not have it")
        .matches(e -> ((StoreException) e).mayHaveHappened());
  }

  @Test
  void release_onAllServers_leavesNothingAlsoWhereItCameLate() {
    RedlockLeaseStore store = openNew();
    net.set(
        4,
        request -> RequestFate.DELIVERED.delayed(Duration.ofMillis(100), Duration.ofMillis(100)));
    String owner = owner();
    granted(store, owner);

    release(store, owner);
    env.advance(Duration.ofSeconds(2));

    for (int i = 0; i < 5; i++) {
      assertThat(holderOn(i)).isNull();
    }
  }

  @Test
  void release_serverAwayForAWhile_isRepeatedThere() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    granted(store, owner);
    cut(4);

    release(store, owner);
    env.advance(Duration.ofSeconds(3));
    assertThat(holderOn(4)).isEqualTo(owner);
    heal();
    env.advance(Duration.ofSeconds(3));

    assertThat(holderOn(4)).isNull();
  }

  /**
   * As the engine does that cleans up behind an acquire of unknown outcome, while a server is cut
   * off.
   */
  @Test
  void release_askedForAgainAndAgain_isRepeatedByOneForAll() {
    RedlockLeaseStore store = openNew();
    // The servers know the script from here on, and so does the count below.
    String before = owner();
    granted(store, before);
    release(store, before);
    String owner = owner();
    granted(store, owner);
    cut(0, 1, 2);
    int times = 8;
    for (int i = 0; i < times; i++) {
      CompletionStage<Boolean> unused = store.release(NAME, owner);
      env.advance(TIMEOUT.multipliedBy(2));
    }
    seen.clear();
    env.advance(Duration.ofSeconds(10));
    // One chain for each of the three, with pauses; not one for each time.
    assertThat(seen.stream().filter(request -> request.runs("LEASE_RELEASE:")).count())
        .isBetween(3L, 3 * 12L);
    heal();
    env.advance(Duration.ofSeconds(3));
    for (int i = 0; i < 5; i++) {
      assertThat(redlock.server(i).state(StoreKey.of("pdk:{redlock}:l:" + NAME))).isNull();
    }
  }

  @Test
  void release_noMajorityAnswers_isUnknown() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    granted(store, owner);
    cut(0, 1, 2);

    assertThat(failure(store.release(NAME, owner)))
        .isInstanceOf(StoreException.class)
        .matches(e -> ((StoreException) e).mayHaveHappened());
  }

  @Test
  void release_scriptsFlushedAndOutOfMemory_isReleased() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    granted(store, owner);
    redlock.servers().forEach(InMemoryRedis::scriptFlush);
    redlock.servers().forEach(server -> server.setOutOfMemory(true));

    release(store, owner);

    env.run();
    for (int i = 0; i < 5; i++) {
      assertThat(holderOn(i)).isNull();
    }
  }

  // ---- memory

  @Test
  void restartedEmpty_atOnce_doesNotVote() {
    RedlockLeaseStore store = openNew();
    redlock.server(2).restartEmpty();
    cut(3, 4);

    assertThat(refused(store)).hasMessageContaining("server-2:6379: may not vote");
  }

  @Test
  void restartedEmpty_afterTheLongestLease_votesWithTheCountersOfTheOthers() {
    RedlockLeaseStore store = openNew();
    setCounter(0, HIGH);
    cut(3, 4);
    String first = owner();
    long token = granted(store, first);
    heal();
    redlock.server(2).restartEmpty();
    long restarted = env.elapsedNanos();

    awaitVote(2);

    assertThat(Duration.ofNanos(env.elapsedNanos() - restarted)).isGreaterThanOrEqualTo(LONGEST);
    cut(0, 1);
    assertThat(granted(open(), owner())).isGreaterThan(token);
  }

  @Test
  void restartedFromAnOlderSnapshot_withItsEpoch_doesNotVoteBeforeItIsReadmitted() {
    RedlockLeaseStore store = openNew();
    InMemoryRedis.Saved old = redlock.server(2).save();
    setCounter(0, HIGH);
    cut(3, 4);
    long token = granted(store, owner());
    redlock.server(2).restart(old);

    assertThat(votes(2)).isFalse();
    heal();
    cut(0, 1);
    assertThat(refused(open())).hasMessageContaining("server-2:6379: may not vote");
    heal();
    awaitVote(2);
    cut(0, 1);
    assertThat(granted(open(), owner())).isGreaterThan(token);
  }

  @Test
  void restartedLongAgo_withItsData_isReadmittedAtOnce() {
    RedlockLeaseStore store = openNew();
    store.close();
    redlock.server(2).restart();
    env.advance(LONGEST.multipliedBy(2));
    long before = env.elapsedNanos();

    open();
    awaitVote(2);

    assertThat(env.elapsedNanos()).isEqualTo(before);
  }

  @Test
  void requestUnderWay_reachesTheNextRun_getsNoVoteThere() {
    RedlockLeaseStore store = openNew();
    InMemoryRedis.Saved old = redlock.server(2).save();
    cut(3, 4);
    net.set(2, request -> RequestFate.DELIVERED.delayed(Duration.ofMillis(100), Duration.ZERO));
    CompletionStage<LeaseReply> asked = ask(store, owner());
    env.advance(Duration.ofMillis(50));
    redlock.server(2).restart(old);

    assertThat(failure(asked)).isInstanceOf(StoreException.class);
    assertThat(holderOn(2)).isNull();
  }

  @Test
  void flushed_withoutARestart_waitsTheLongestLeaseFromWhenThatWasNoticed() {
    RedlockLeaseStore store = openNew();
    env.advance(LONGEST.multipliedBy(3));
    granted(store, owner());
    redlock.server(2).flushAll();
    long flushed = env.elapsedNanos();
    assertThat(votes(2)).isFalse();

    awaitVote(2);

    assertThat(Duration.ofNanos(env.elapsedNanos() - flushed)).isGreaterThanOrEqualTo(LONGEST);
  }

  @Test
  void majorityForgot_nobodyIsReadmittedUntilBootstrapped() {
    RedlockLeaseStore store = openNew();
    for (int i = 0; i < 5; i++) {
      setCounter(i, HIGH);
    }
    String first = owner();
    long token = granted(store, first);
    for (int i = 0; i < 3; i++) {
      redlock.server(i).restartEmpty();
    }
    env.advance(LONGEST.multipliedBy(4));

    assertThat(votes(0) || votes(1) || votes(2)).isFalse();
    assertThat(refused(store)).hasMessageContaining("bootstrap");

    assertThat(redlock.bootstrap(RedlockBootstrap.MEMORY_LOST)).isEqualTo(5);
    assertThat(granted(store, owner())).isGreaterThan(token);
  }

  @Test
  void bootstrap_afterALoss_waitsUntilEarlierLeasesAreOver() {
    openNew();
    redlock.servers().forEach(InMemoryRedis::restartEmpty);
    long before = env.elapsedNanos();

    redlock.bootstrap(RedlockBootstrap.MEMORY_LOST);

    assertThat(Duration.ofNanos(env.elapsedNanos() - before)).isGreaterThanOrEqualTo(LONGEST);
  }

  @Test
  void firstStart_withoutBootstrap_isRefusedWithWhatToDo() {
    RedlockLeaseStore store = open();
    env.advance(LONGEST.multipliedBy(3));

    assertThat(refused(store))
        .hasMessageContaining("first start")
        .hasMessageContaining("bootstrap");
  }

  @Test
  void bootstrap_asNewServers_isRefusedWhereLeasesWere() {
    openNew().close();
    for (int i = 0; i < 3; i++) {
      redlock.server(i).restartEmpty();
    }

    assertThatThrownBy(() -> redlock.bootstrap(RedlockBootstrap.NEW_SERVERS))
        .cause()
        .hasMessageContaining("MEMORY_LOST");
  }

  @Test
  void bootstrap_whileAMajorityVotes_doesNothing() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    granted(store, owner);
    redlock.server(0).restartEmpty();

    redlock.bootstrap(RedlockBootstrap.MEMORY_LOST);

    assertThat(votes(0)).isFalse();
    assertThat(acquire(store, owner()).status()).isEqualTo(Status.HELD);
  }

  @Test
  void manyClients_readmitAtOnce_onceIsEnough() {
    for (int i = 0; i < 4; i++) {
      openNew();
    }
    redlock.server(1).restartEmpty();
    awaitVote(1);
    long token = granted(open(), owner());
    env.advance(Duration.ofMinutes(1));
    assertThat(granted(open(), owner())).isGreaterThan(token);
  }

  // ---- what is refused when the store is opened

  private Throwable refusedToOpen() {
    return failure(redlock.openAsync());
  }

  @Test
  void sameServerUnderTwoNames_isRefused() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    List<RedlockNode> nodes = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      nodes.add(
          new RedlockNode(InMemoryRedlock.address(i), redlock.server(i % 4).connect("twice", env)));
    }

    assertThat(failure(RedlockLeaseStore.openAsync(nodes, LONGEST, env, InMemoryRedlock.options())))
        .hasMessageContaining("server-0:6379")
        .hasMessageContaining("server-4:6379")
        .hasMessageContaining("are the same server");
  }

  @Test
  void clientsThatDisagree_onTheServersOrTheLongestLease_areRefused() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);

    assertThat(
            failure(
                RedlockLeaseStore.openAsync(
                    redlock.connect(env), LONGEST.plusSeconds(1), env, InMemoryRedlock.options())))
        .hasMessageContaining("another longest lease");
    assertThat(
            failure(
                RedlockLeaseStore.openAsync(
                    redlock.connect(env).subList(0, 3), LONGEST, env, InMemoryRedlock.options())))
        .hasMessageContaining("other servers");
  }

  @Test
  void evictingServer_isRefused() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    redlock.server(3).command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");

    assertThat(refusedToOpen())
        .hasMessageContaining("server-3:6379")
        .hasMessageContaining("volatile-lru")
        .hasMessageContaining("noeviction");
  }

  @Test
  void tooFewServersAnswer_isRefusedWithTheReasons() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    cut(0, 1, 2);

    assertThat(refusedToOpen()).hasMessageContaining("only 2 of 5 servers answered");
  }

  @Test
  void serverAwayWhenOpened_comesBack_votes() {
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    cut(0, 1);
    RedlockLeaseStore store = open();
    heal();
    env.advance(Duration.ofSeconds(10));
    cut(3, 4);

    granted(store, owner());
  }

  // ---- clocks

  @Test
  void clockOfOneServer_jumpsBeyondTheLease_tokensStayInOrder() {
    RedlockLeaseStore store = openNew();
    cut(3, 4);
    long token = granted(store, owner());
    heal();
    redlock.server(2).stepClock(LONGEST.multipliedBy(2));
    cut(0, 1);

    assertThat(granted(open(), owner())).isGreaterThan(token);
  }

  @Test
  void clockOfOneServer_jumpsForth_itsNextVoteIsNotTooLate() {
    RedlockLeaseStore store = openNew();
    String first = owner();
    granted(store, first);
    release(store, first);
    redlock.server(2).stepClock(Duration.ofHours(1));
    cut(3, 4);

    granted(store, owner());
  }

  // ---- hints, inspection

  @Test
  void release_hintsOfAllServers_arePassedOnOnce() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    RedlockLeaseStore waiter = open();
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription = waiter.subscribe(NAME, hints::incrementAndGet);
    assertThat(env.await(subscription.ready(), LIMIT)).isTrue();

    for (int round = 1; round <= 3; round++) {
      granted(store, owner);
      assertThat(acquire(waiter, owner()).status()).isEqualTo(Status.HELD);
      release(store, owner);
      env.advance(Duration.ofMillis(200));
      assertThat(hints).hasValue(round);
    }
    subscription.close();
  }

  /** Puts a lease on some servers as an attempt does that is under way. */
  private void put(String owner, int... servers) {
    for (int server : servers) {
      redlock.server(server).command("HSET", LEASE, "o", owner, "g", "1");
      redlock.server(server).command("PEXPIRE", LEASE, LEASE_MILLIS);
    }
  }

  @Test
  void inspect_tellsOfEachServerAndOfAll() {
    RedlockLeaseStore store = openNew();
    String owner = owner();
    assertThat(inspect(store).verdict()).isEqualTo(Verdict.FREE);
    put(owner, 0, 1);
    assertThat(inspect(store).verdict()).isEqualTo(Verdict.SPLIT);
    put(owner, 2);
    assertThat(inspect(store).verdict()).isEqualTo(Verdict.HELD);
    redlock.server(4).stepClock(Duration.ofMinutes(5));
    redlock.server(3).restartEmpty();
    cut(1);

    LeaseInspection report = inspect(store);

    assertThat(report.verdict()).isEqualTo(Verdict.SPLIT);
    assertThat(report.nodes()).hasSize(5);
    assertThat(report.nodes().get(0).owner()).isEqualTo(owner);
    assertThat(report.nodes().get(0).remaining()).isPositive();
    assertThat(report.nodes().get(1).error()).contains("no answer");
    assertThat(report.nodes().get(3).error()).contains("may not vote");
    assertThat(report.nodes().get(4).clockOffset())
        .isBetween(Duration.ofMinutes(4), Duration.ofMinutes(6));
    cut(0, 2);
    assertThat(inspect(store).verdict()).isEqualTo(Verdict.UNKNOWN);
  }

  private LeaseInspection inspect(LeaseStore store) {
    return env.await(store.inspect(NAME), LIMIT);
  }

  // ---- the end

  @Test
  void close_leavesNoTimer() {
    RedlockLeaseStore store = openNew();
    CompletableFuture<LeaseReply> pending = ask(store, owner()).toCompletableFuture();
    env.run();
    assertThat(pending).isCompleted();
    store.close();
    env.advance(Duration.ofMinutes(2));
    assertThat(env.pendingTimers()).isZero();
    assertThat(redlock.servers()).allMatch(server -> server.subscriptionCount() == 0);
  }

  @Test
  void longerLease_thanTheGroupAllows_isRefused() {
    RedlockLeaseStore store = openNew();
    assertThatThrownBy(
            () ->
                store.acquire(
                    new LeaseRequest(NAME, owner(), LONGEST.toMillis() + 1, 1_000, Waiting.NOBODY)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the longest lease of this group");
  }
}
