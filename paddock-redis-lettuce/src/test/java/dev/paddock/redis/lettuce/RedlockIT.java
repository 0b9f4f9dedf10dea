/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.paddock.Lease;
import dev.paddock.LeaseInspection.Verdict;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.StoreException;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.lettuce.RedlockContenders.Acquisition;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerClocks;
import dev.paddock.testkit.ServerRelease;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Redlock on real servers, through Lettuce. {@code -Dpaddock.redlock.acquisitions=10000} makes the
 * contenders' test long.
 */
@Timeout(600)
final class RedlockIT {
  private static final int ACQUISITIONS = Integer.getInteger("paddock.redlock.acquisitions", 2_000);
  private static final int SIZE = 5;
  private static final String LEASE = "pdk:{redlock}:l:job";
  private static final String EPOCH = "pdk:{redlock}:e";
  private static final Duration LONGEST = Duration.ofSeconds(3);
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final LeaseOptions THREE_SECONDS =
      LeaseOptions.defaults().leaseTime(Duration.ofSeconds(3));

  private final List<RedisServerProcess> servers = new ArrayList<>();
  private final List<LeaseLock> locks = new ArrayList<>();
  private Duration commandTimeout = Duration.ofSeconds(2);

  @TempDir private Path folder;

  @AfterEach
  void stopAll() {
    locks.forEach(LeaseLock::close);
    servers.forEach(RedisServerProcess::close);
  }

  private void start() {
    for (int i = 0; i < SIZE; i++) {
      servers.add(RedisServerProcess.start());
    }
    redlock().bootstrap(RedlockBootstrap.NEW_SERVERS);
  }

  private List<String> uris() {
    return servers.stream().map(RedisServerProcess::uri).toList();
  }

  private LettuceRedlock redlock() {
    return LettuceRedis.redlock(uris()).longestLease(LONGEST);
  }

  private LeaseLock open() {
    LeaseLock lock =
        LeaseLock.newBuilder()
            .store(redlock())
            .commandTimeout(commandTimeout)
            .connectTimeout(LIMIT)
            .build();
    locks.add(lock);
    return lock;
  }

  /** Tries until it has the lease: a machine under load may need more than one attempt. */
  private static Lease acquire(LeaseLock lock) {
    @Nullable Lease[] lease = new Lease[1];
    await()
        .atMost(LIMIT)
        .until(
            () -> {
              try {
                Optional<Lease> one = lock.tryAcquire("job", THREE_SECONDS);
                one.ifPresent(each -> lease[0] = each);
                return one.isPresent();
              } catch (StoreException e) {
                return false;
              }
            });
    return requireNonNull(lease[0]);
  }

  private static String refusal(LeaseLock lock) {
    try {
      Optional<Lease> lease = lock.tryAcquire("job", THREE_SECONDS);
      return lease.isPresent() ? "granted" : "held";
    } catch (StoreException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static void eventually(Callable<Boolean> condition) {
    await().atMost(LIMIT).until(condition);
  }

  private boolean isHeldOn(int server) {
    return servers.get(server).console().text("EXISTS", LEASE).equals("1");
  }

  private boolean votes(int server) {
    String fingerprint = servers.get(server).console().text("HEXISTS", EPOCH, "f");
    return fingerprint.equals("1")
        && servers
            .get(server)
            .console()
            .text("INFO", "server")
            .contains("run_id:" + servers.get(server).console().text("HGET", EPOCH, "r") + "\r\n");
  }

  private void pause(int... which) {
    for (int server : which) {
      servers.get(server).pause();
    }
  }

  private void resume(int... which) {
    for (int server : which) {
      servers.get(server).resume();
    }
  }

  // ---- many contenders

  @Test
  @Timeout(1_800)
  void contenders_inTwoProcesses_neverOverlapAndTheirTokensAreInOrder() throws Exception {
    for (int i = 0; i < SIZE; i++) {
      servers.add(RedisServerProcess.start());
    }
    LettuceRedis.redlock(uris()).bootstrap(RedlockBootstrap.NEW_SERVERS);
    int each = ACQUISITIONS / 8;
    Path journal = folder.resolve("journal");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                RedlockContenders.class.getName(),
                "4",
                Integer.toString(each),
                journal.toString()));
    command.addAll(uris());
    Process other = new ProcessBuilder(command).inheritIO().start();
    List<Acquisition> all;
    try {
      all = new ArrayList<>(RedlockContenders.run(uris(), 4, each));
      assertThat(other.waitFor(20, TimeUnit.MINUTES)).isTrue();
      assertThat(other.exitValue()).isZero();
    } finally {
      other.destroyForcibly();
    }
    Files.readAllLines(journal).forEach(line -> all.add(Acquisition.parse(line)));

    assertThat(all).hasSize(8 * each);
    assertThat(all.stream().map(Acquisition::token).distinct()).hasSize(all.size());
    all.sort(Comparator.comparingLong(Acquisition::token));
    // In the order of tokens no lease was returned before an earlier one was seen to be valid, ...
    long until = Long.MIN_VALUE;
    for (Acquisition one : all) {
      assertThat(one.returned()).as("overlap at %s", one).isGreaterThan(until);
      until = Math.max(until, one.until());
    }
    // ... and none was asked for after one with a greater token was returned.
    long returned = Long.MAX_VALUE;
    for (int i = all.size() - 1; i >= 0; i--) {
      assertThat(all.get(i).asked()).as("order at %s", all.get(i)).isLessThan(returned);
      returned = Math.min(returned, all.get(i).returned());
    }
  }

  // ---- servers that die

  @Test
  void minorityKilled_goesOn_majorityKilled_refusesSoon() {
    start();
    LeaseLock lock = open();
    long first;
    try (Lease lease = acquire(lock)) {
      first = lease.fencingToken();
    }
    servers.get(0).kill();
    servers.get(1).kill();
    try (Lease lease = acquire(lock)) {
      assertThat(lease.fencingToken()).isGreaterThan(first);
      assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);
    }
    servers.get(2).kill();
    long before = System.nanoTime();

    assertThat(refusal(lock)).contains("3 of 5 are needed");

    // One time-out of a server, with much room for a machine under load.
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void restartedEmpty_doesNotVoteUntilItKnowsWhatTheOthersKnow() {
    start();
    LeaseLock lock = open();
    for (int server : new int[] {0, 1, 2}) {
      // Beyond the servers' time, at which a counter that was lost would begin.
      for (int bucket = 0; bucket < 1024; bucket++) {
        servers
            .get(server)
            .console()
            .command("HSET", "pdk:{redlock}:c", bucket, 8_000_000_000_000_000L + server);
      }
    }
    pause(3, 4);
    long first;
    try (Lease lease = acquire(lock)) {
      first = lease.fencingToken();
    }
    servers.get(2).kill();
    servers.get(2).restart();
    eventually(() -> refusal(lock).contains(servers.get(2).port() + ": may not vote"));
    assertThat(votes(2)).isFalse();

    resume(3, 4);
    eventually(() -> votes(2));
    pause(0, 1);
    try (Lease lease = acquire(lock)) {
      assertThat(lease.fencingToken()).isGreaterThan(first);
    }
    resume(0, 1);
  }

  @Test
  void restartedFromAnOlderSnapshot_withItsEpoch_doesNotVote() throws Exception {
    start();
    LeaseLock lock = open();
    servers.get(2).console().command("SAVE");
    pause(3, 4);
    long first;
    try (Lease lease = acquire(lock)) {
      first = lease.fencingToken();
    }
    servers.get(2).kill();
    servers.get(2).restart();

    assertThat(servers.get(2).console().text("HEXISTS", EPOCH, "f")).isEqualTo("1");
    assertThat(votes(2)).isFalse();
    eventually(() -> refusal(lock).contains(servers.get(2).port() + ": may not vote"));
    assertThat(isHeldOn(2)).isFalse();
    resume(3, 4);
    eventually(() -> votes(2));
    pause(0, 1);
    try (Lease lease = acquire(lock)) {
      assertThat(lease.fencingToken()).isGreaterThan(first);
    }
    resume(0, 1);
  }

  @Test
  void acquireThatTheDriverSendsAgain_afterARestart_getsNoVote() throws Exception {
    commandTimeout = Duration.ofSeconds(30);
    start();
    LeaseLock lock = open();
    servers.get(2).console().command("SAVE");
    pause(2, 3, 4);
    CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync("job", THREE_SECONDS);
    // It is on its way to all when those that run have it.
    eventually(() -> isHeldOn(0) && isHeldOn(1));

    servers.get(2).restart();

    // The driver has connected again and sent what was under way: the server has executed scripts.
    eventually(
        () ->
            servers.get(2).console().text("INFO", "commandstats").contains("cmdstat_evalsha")
                || servers.get(2).console().text("INFO", "commandstats").contains("cmdstat_eval:"));
    assertThat(isHeldOn(2)).isFalse();
    assertThat(votes(2)).isFalse();
    resume(3, 4);
    asked.handle((lease, error) -> lease).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(isHeldOn(2)).isFalse();
  }

  // ---- a server that hangs

  @Test
  void clientPause_longerThanTheCommandTimeout_isHeldOnceAndLeavesNothing() {
    start();
    commandTimeout = Duration.ofMillis(500);
    LeaseLock lock = open();
    for (int i = 0; i < 3; i++) {
      servers.get(i).connect().command("CLIENT", "PAUSE", "3000", "ALL");
    }
    assertThat(refusal(lock)).contains("3 of 5 are needed");

    LeaseLock another = open();
    Lease lease = acquire(another);
    assertThat(lock.tryAcquire("job", THREE_SECONDS)).isEmpty();
    assertThat(another.inspect("job").join().verdict()).isEqualTo(Verdict.HELD);
    assertThat(
            another.inspect("job").join().nodes().stream()
                .filter(node -> node.owner() != null)
                .map(node -> String.valueOf(node.owner()))
                .distinct())
        .containsExactly(lease.uniqueId());
    lease.close();

    eventually(
        () -> {
          for (int i = 0; i < SIZE; i++) {
            if (isHeldOn(i)) {
              return false;
            }
          }
          return true;
        });
  }

  // ---- releases that must get through

  @Test
  void release_afterScriptFlushAndOutOfMemory_isReleased() {
    start();
    LeaseLock lock = open();
    Lease lease = acquire(lock);
    for (RedisServerProcess server : servers) {
      server.console().command("SCRIPT", "FLUSH");
      server.console().command("CONFIG", "SET", "maxmemory", "1");
    }

    assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);

    for (int i = 0; i < SIZE; i++) {
      int server = i;
      eventually(() -> !isHeldOn(server));
    }
    assertThat(refusal(lock)).contains("OOM");
  }

  // ---- clocks

  private ServerClocks clocks() {
    try {
      return ServerClocks.in(folder);
    } catch (IllegalStateException e) {
      return abort(String.valueOf(e.getMessage()));
    }
  }

  @Test
  void clockOfOneServer_jumpsBeyondTheLease_tokensStayInOrder() throws Exception {
    ServerClocks clocks = clocks();
    for (int i = 0; i < SIZE; i++) {
      servers.add(
          i == 2
              ? ServerRelease.REDIS_6_2.startUnder(clocks.command())
              : RedisServerProcess.start());
    }
    LettuceRedis.redlock(uris()).bootstrap(RedlockBootstrap.NEW_SERVERS);
    LeaseOptions minute = LeaseOptions.defaults().leaseTime(Duration.ofMinutes(1));
    pause(3, 4);
    try (LeaseLock one = unlimited();
        LeaseLock two = unlimited()) {
      Lease first = acquired(one, minute);
      assertThat(isHeldOn(2)).isTrue();

      clocks.set(servers.get(2).port(), Duration.ofMinutes(2));
      eventually(() -> !isHeldOn(2));
      resume(3, 4);
      Lease second = acquired(two, minute);

      assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
      // What no lease by time can exclude, and the tokens are for.
      assertThat(first.isValid()).isTrue();
      assertThat(first.extend()).isNotNull();
      second.close();
      first.close();
    }
  }

  private LeaseLock unlimited() {
    return LeaseLock.newBuilder()
        .store(LettuceRedis.redlock(uris()))
        .commandTimeout(commandTimeout)
        .connectTimeout(LIMIT)
        .build();
  }

  private static Lease acquired(LeaseLock lock, LeaseOptions options) {
    @Nullable Lease[] lease = new Lease[1];
    eventually(
        () -> {
          try {
            lock.tryAcquire("job", options).ifPresent(each -> lease[0] = each);
          } catch (StoreException e) {
            return false;
          }
          return lease[0] != null;
        });
    return requireNonNull(lease[0]);
  }

  // ---- opening

  @Test
  void connect_byUri_saysWhatToDoUntilBootstrapped() {
    for (int i = 0; i < 3; i++) {
      servers.add(RedisServerProcess.start());
    }
    String uri =
        "redlock://"
            + String.join(
                ",", servers.stream().map(server -> "127.0.0.1:" + server.port()).toList());
    try (LeaseLock lock = LeaseLock.connect(uri)) {
      assertThat(refusal(lock)).contains("first start").contains("bootstrap");

      LettuceRedis.redlock(uri).bootstrap(RedlockBootstrap.NEW_SERVERS);

      try (Lease lease = acquire(lock)) {
        assertThat(lease.fencingToken()).isPositive();
      }
    }
  }

  @Test
  void user_withTheRightsOfTheProtocolPage_isRefusedNothing() throws Exception {
    String rights =
        "~pdk:{redlock}:* resetchannels &pdk:{redlock}:* +time +info +eval +evalsha +hmget +hset"
            + " +hget +hgetall +hincrby +hdel +del +pttl +pexpire +publish +subscribe +unsubscribe";
    assertThat(Files.readString(Path.of("..", "paddock-redis", "PROTOCOL.md"))).contains(rights);
    String line = "ACL SETUSER app on >" + LeastRights.PASSWORD + " " + rights;
    List<String> uris = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      RedisServerProcess server = RedisServerProcess.start();
      servers.add(server);
      uris.add(LeastRights.grant(server, "app", line));
    }
    LettuceRedlock redlock = LettuceRedis.redlock(uris).longestLease(LONGEST);
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    try (LeaseLock one = LeaseLock.newBuilder().store(redlock).build();
        LeaseLock two = LeaseLock.newBuilder().store(redlock).build()) {
      Lease first = acquire(one);
      CompletableFuture<Optional<Lease>> waiting =
          two.tryAcquireAsync("job", THREE_SECONDS.waitTime(LIMIT));
      assertThat(first.extend()).isNotNull();
      first.close();
      assertThat(waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isPresent();
      assertThat(one.inspect("job").join().nodes()).allMatch(node -> node.error() == null);
      servers.get(2).restart();
      servers.get(2).console().command((Object[]) line.split(" "));
      eventually(() -> votes(2));
    }
    // While the restarted server did not know the user, it said so to whoever connected.
    assertThat(servers)
        .allSatisfy(
            server ->
                assertThat(LeastRights.refused(server))
                    .allMatch(refusal -> refusal.contains("reason auth")));
  }

  @Test
  void bootstrap_afterTheLossOfTooMany_waitsAndGoesOn() {
    start();
    LeaseLock lock = open();
    long first;
    try (Lease lease = acquire(lock)) {
      first = lease.fencingToken();
    }
    servers.forEach(RedisServerProcess::restart);
    eventually(() -> refusal(lock).contains("bootstrap"));
    long before = System.nanoTime();

    redlock().bootstrap(RedlockBootstrap.MEMORY_LOST);

    assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(LONGEST.minusSeconds(2));
    try (Lease lease = acquire(lock)) {
      assertThat(lease.fencingToken()).isGreaterThan(first);
    }
  }

  @Test
  void serverAway_whenOpened_votesOnceItIsBack() {
    start();
    servers.get(0).kill();
    LeaseLock lock = open();
    servers.get(0).restart();
    pause(3, 4);
    resume(3, 4);
    eventually(() -> votes(0));
    pause(3, 4);
    acquire(lock).close();
    resume(3, 4);
  }

  @Test
  void serverThatIsNotFit_isRefusedWithWhatToChange() {
    for (int i = 0; i < SIZE; i++) {
      servers.add(RedisServerProcess.start());
    }
    List<String> twice = new ArrayList<>(uris());
    twice.set(4, "redis://localhost:" + servers.get(0).port());
    assertThatThrownBy(() -> LettuceRedis.redlock(twice).bootstrap(RedlockBootstrap.NEW_SERVERS))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("are the same server");
    redlock().bootstrap(RedlockBootstrap.NEW_SERVERS);
    assertThatThrownBy(
            () ->
                LeaseLock.newBuilder()
                    .store(redlock().longestLease(Duration.ofMinutes(2)))
                    .build()
                    .close())
        .hasMessageContaining("another longest lease");
    servers.get(1).console().command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    assertThatThrownBy(this::open)
        .hasMessageContaining("allkeys-lru")
        .hasMessageContaining("noeviction");
    assertThatThrownBy(
            () ->
                LeaseLock.newBuilder()
                    .store(LettuceRedis.redlock(uris().subList(0, 2)))
                    .build()
                    .close())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
