/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.ServerClocks.Sample;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ServerClocksTest {
  private static final byte[] KEY = Entries.ascii("x:1");
  private static final byte[] OTHER = Entries.ascii("y:1");
  private static final long START = 1_795_966_624_165_000L;

  private final FakeEnvironment environment = new FakeEnvironment();
  private final ScriptedTransport transport = new ScriptedTransport();
  private long stepMicros;

  ServerClocksTest() {
    long origin = environment.nanoTime();
    transport.serverMicros = () -> START + stepMicros + (environment.nanoTime() - origin) / 1_000;
  }

  // ---- the estimate

  @Test
  void estimate_oneReply_isWithinHalfItsRoundTrip() {
    long server = 5_000_000;
    Sample sample = Sample.of(0, millis(20), server, 1);

    assertThat(sample.microsAt(millis(20))).isBetween(server, server + 20_001);
    assertThat(sample.microsAt(millis(20))).isEqualTo(server + 10_000);
    assertThat(sample.microsAt(millis(120))).isEqualTo(server + 110_000);
  }

  @Test
  void estimate_widerReplySoonAfter_isNotTaken() {
    Sample tight = Sample.of(0, millis(1), 1_000, 1);
    Sample wide = Sample.of(millis(100), millis(180), 101_000, 1);

    assertThat(tight.orBetter(wide)).isSameAs(tight);
  }

  @Test
  void estimate_tighterReply_isTaken() {
    Sample wide = Sample.of(0, millis(80), 1_000, 1);
    Sample tight = Sample.of(millis(100), millis(101), 101_000, 1);

    assertThat(wide.orBetter(tight)).isSameAs(tight);
  }

  @Test
  void estimate_widerReplyAfterDriftMayHaveWidenedTheOld_isTaken() {
    Sample tight = Sample.of(0, millis(1), 1_000, 1);
    // 60 s at 500 ppm either way: 60 ms.
    Sample later = Sample.of(millis(60_000), millis(60_040), 60_001_000, 1);

    assertThat(tight.orBetter(later)).isSameAs(later);
  }

  @Test
  void estimate_oldReply_isReplacedByAny() {
    Sample tight = Sample.of(0, millis(1), 1_000, 1);
    Sample later =
        Sample.of(
            ServerClocks.OLD_NANOS - millis(4_000),
            ServerClocks.OLD_NANOS + millis(1),
            ServerClocks.OLD_NANOS / 1_000,
            1);

    assertThat(tight.orBetter(later)).isSameAs(later);
  }

  @Test
  void estimate_serverClockSetForwardOrBack_isReplacedAtOnceEvenByAWiderReply() {
    Sample tight = Sample.of(0, millis(1), 10_000_000_000L, 1);
    Sample forward = Sample.of(millis(100), millis(150), 10_000_100_000L + 3_600_000_000L, 1);
    Sample back = Sample.of(millis(100), millis(150), 10_000_100_000L - 3_600_000_000L, 1);

    assertThat(tight.orBetter(forward)).isSameAs(forward);
    assertThat(tight.orBetter(back)).isSameAs(back);
  }

  @Test
  void estimate_randomDelaysDriftAndSteps_staysWithinTheRoundTripOfTheLastReply() {
    for (int seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      double rate = 1 + (random.nextDouble() - 0.5) * 400e-6;
      long now = random.nextLong() >> 4;
      double server = START;
      Sample kept = null;
      for (int i = 0; i < 400; i++) {
        long pause = millis(random.nextInt(2_000));
        long there = delay(random);
        long back = delay(random);
        now += pause;
        server += pause * rate / 1_000;
        if (random.nextInt(50) == 0) {
          server += (random.nextInt(3) - 1) * 3.6e9;
        }
        long sent = now;
        now += there;
        server += there * rate / 1_000;
        long answered = (long) server / 1_000 * 1_000;
        now += back;
        server += back * rate / 1_000;
        Sample sample = Sample.of(sent, now, answered, 1_000);
        kept = kept == null ? sample : kept.orBetter(sample);

        long roundTripMicros = (there + back) / 1_000;
        assertThat(Math.abs(kept.microsAt(now) - (long) server))
            .as("seed %s, exchange %s", seed, i)
            .isLessThanOrEqualTo(roundTripMicros + 2_000);
      }
    }
  }

  private static long delay(Random random) {
    return TimeUnit.MICROSECONDS.toNanos(
        random.nextInt(10) == 0 ? random.nextInt(300_000) : 50 + random.nextInt(1_000));
  }

  @Test
  void nowMillis_wallClockOfTheProcess_doesNotMatter() {
    // The fake wall clock stands at 1970.
    ServerClocks clocks = open();
    environment.advanceMillis(12_345);

    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000 + 12_345);
  }

  @Test
  void nowMillis_serverClockWasSet_isRightAgainAfterTheNextReply() {
    ServerClocks clocks = open();
    stepMicros = TimeUnit.HOURS.toMicros(1);

    clocks.heardMillis(
        "only", KEY, environment.nanoTime(), transport.serverMicros.getAsLong() / 1_000);

    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000 + TimeUnit.HOURS.toMillis(1));
  }

  // ---- TIME and the timer

  @Test
  void inUse_withoutReplies_asksForTheTimeAtLeastOnceAMinute() {
    ServerClocks clocks = open();
    int before = transport.times;
    for (int second = 0; second < 600; second++) {
      clocks.nowMillis(KEY);
      environment.advanceMillis(1_000);
    }

    assertThat(transport.times - before).isBetween(10, 21);
  }

  @Test
  void inUse_clockThatIsSet_isNoticedWithinAMinute() {
    ServerClocks clocks = open();
    clocks.nowMillis(KEY);
    environment.advanceMillis(1_000);
    stepMicros = TimeUnit.HOURS.toMicros(-1);
    for (int second = 0; second < 60; second++) {
      clocks.nowMillis(KEY);
      environment.advanceMillis(1_000);
    }

    assertThat(clocks.nowMillis(KEY)).isEqualTo(transport.serverMicros.getAsLong() / 1_000);
  }

  @Test
  void inUse_withRepliesOfScripts_asksForNoTime() {
    ServerClocks clocks = open();
    int before = transport.times;
    for (int second = 0; second < 600; second++) {
      clocks.use(KEY);
      clocks.heardMillis(
          "only", KEY, environment.nanoTime(), transport.serverMicros.getAsLong() / 1_000);
      environment.advanceMillis(1_000);
    }

    assertThat(transport.times).isEqualTo(before);
  }

  @Test
  void atRest_afterAMinute_hasNoTimerAndAsksNothing() {
    ServerClocks clocks = open();
    clocks.nowMillis(KEY);
    assertThat(environment.pendingTimers()).isEqualTo(1);

    environment.advanceMillis(60_000);
    assertThat(environment.pendingTimers()).isZero();
    int scheduled = environment.scheduled;
    int asked = transport.times;
    environment.advanceMillis(3_600_000);

    assertThat(environment.scheduled).isEqualTo(scheduled);
    assertThat(transport.times).isEqualTo(asked);
  }

  @Test
  void open_withoutAnyUse_hasNoTimer() {
    open();

    assertThat(environment.pendingTimers()).isZero();
  }

  @Test
  void nextUse_afterARest_asksForTheTimeAndStartsTheTimer() {
    ServerClocks clocks = open();
    clocks.nowMillis(KEY);
    environment.advanceMillis(3_600_000);
    int asked = transport.times;

    clocks.nowMillis(KEY);

    assertThat(transport.times).isEqualTo(asked + 1);
    assertThat(environment.pendingTimers()).isEqualTo(1);
  }

  @Test
  void closed_inUse_schedulesAndAsksNothing() {
    ServerClocks clocks = open();
    clocks.nowMillis(KEY);
    clocks.close();
    int asked = transport.times;
    int scheduled = environment.scheduled;

    assertThat(environment.pendingTimers()).isZero();
    environment.advanceMillis(600_000);
    clocks.nowMillis(KEY);
    clocks.use(KEY);
    ServerClocks unused = open();
    unused.close();
    unused.nowMillis(KEY);

    assertThat(environment.pendingTimers()).isZero();
    assertThat(environment.scheduled).isEqualTo(scheduled);
    assertThat(transport.times).isEqualTo(asked);
    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000 + 600_000);
  }

  @Test
  void time_thatFailsHangsOrThrows_isAskedAgainWithoutAStorm() {
    ServerClocks clocks = open();
    int before = transport.times;
    transport.timeAnswer =
        key ->
            switch (transport.times % 3) {
              case 0 -> new CompletableFuture<>();
              case 1 -> CompletableFuture.failedFuture(new RedisReplyException("LOADING"));
              default -> throw new IllegalStateException("no connection");
            };
    for (int i = 0; i < 60_000; i++) {
      clocks.nowMillis(KEY);
      environment.advanceMillis(10);
    }

    assertThat(transport.times - before).isBetween(50, 130);
    transport.timeAnswer = null;
    stepMicros = 1_000_000;
    environment.advanceMillis(5_000);
    clocks.nowMillis(KEY);
    assertThat(clocks.nowMillis(KEY)).isEqualTo(transport.serverMicros.getAsLong() / 1_000);
  }

  @Test
  void timer_environmentThatIsClosing_failsNoUse() {
    ServerClocks clocks = open();
    environment.refuseTimers = true;

    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000);
    environment.refuseTimers = false;
    environment.advanceMillis(60_000);
    clocks.nowMillis(KEY);
  }

  // ---- several servers

  @Test
  void servers_withDifferentClocks_areKeptApart() {
    transport.nodes = key -> key[0] == 'y' ? "b" : "a";
    transport.timeAnswer =
        key ->
            CompletableFuture.completedFuture(
                transport.serverMicros.getAsLong() + (key[0] == 'y' ? 7_000_000 : 0));
    ServerClocks clocks = open("a");

    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000);
    assertThat(clocks.nowMillis(OTHER))
        .as("asked at the first use")
        .isEqualTo(START / 1_000 + 7_000);
    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000);
  }

  @Test
  void server_notHeardOfYet_isTakenToAgreeWithTheOthers() {
    transport.nodes = key -> key[0] == 'y' ? "b" : "a";
    ServerClocks clocks = open("a");
    transport.timeAnswer = key -> new CompletableFuture<>();

    assertThat(clocks.nowMillis(OTHER)).isEqualTo(START / 1_000);
  }

  @Test
  void reply_ofAKeyThatMovedMeanwhile_isNobodysTime() {
    transport.nodes = key -> "a";
    ServerClocks clocks = open("a");
    transport.nodes = key -> "b";
    transport.timeAnswer = key -> new CompletableFuture<>();

    clocks.heardMillis("a", KEY, environment.nanoTime(), 1);

    transport.nodes = key -> "a";
    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000);
  }

  @Test
  void servers_thatComeAndGo_areForgottenBeyondTheLimit() {
    int[] current = {0};
    transport.nodes = key -> current[0];
    ServerClocks clocks = open(0);
    for (int i = 0; i < 3 * ServerClocks.SERVERS_MAX; i++) {
      current[0] = i;
      clocks.nowMillis(KEY);
      assertThat(clocks.servers()).isLessThanOrEqualTo(ServerClocks.SERVERS_MAX);
    }
    assertThat(clocks.nowMillis(KEY)).isEqualTo(START / 1_000);
  }

  private ServerClocks open() {
    return open("only");
  }

  private ServerClocks open(Object server) {
    long now = environment.nanoTime();
    return new ServerClocks(
        transport,
        environment,
        KEY,
        Sample.of(now, now, transport.serverMicros.getAsLong(), 1),
        server);
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
