/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.redis.RedisFillStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every script of Paddock does on the model what it does on each real server, and so does a store
 * that uses them: the same random sequences on both, see {@link ScriptSequence} and {@link
 * OperationSequence}. The seeds are fixed ones and a fresh one; {@code -Dpaddock.model.seed=N}
 * replays one, {@code -Dpaddock.model.sequences=N} takes more fresh ones.
 */
@Tag("any-jdk")
final class ModelAgainstServersIT {
  private static final int FIXED = 5;
  private static final int OPERATIONS = 400;
  private static final StoreOptions OPTIONS =
      new StoreOptions(Duration.ofSeconds(60), Duration.ofSeconds(60));

  /** What has come up at least, or the sequences would prove little. */
  private static final List<String> OUTCOMES =
      Stream.of(
              "GET_OR_ACQUIRE COOLDOWN DEGRADED FRESH GRANTED HIT HOLDOFF MINE NO_LEASE STALE",
              "GET_OR_ACQUIRE STALE_GRANTED TOO_LATE WAIT",
              "FILL INVALIDATED REFUSED STORED STORED_LATE SUPERSEDED",
              "EXTEND EXTENDED INVALIDATED LOST",
              "PUT REFUSED STORED TOO_LATE",
              "RAISE_BARRIER RAISED",
              "INVALIDATE DONE",
              "RELEASE NOT_OWNER RELEASED",
              "LEASE_ACQUIRE GRANTED HELD TOO_LATE",
              "LEASE_EXTEND EXTENDED LOST",
              "LEASE_RELEASE NOT_OWNER RELEASED",
              "LEASE_INSPECT FREE HELD",
              "FENCED_WRITE ACCEPTED REJECTED",
              "REDLOCK_ACQUIRE AMNESIA FOREIGN GRANTED HELD TOO_LATE",
              "REDLOCK_COMMIT AMNESIA BEHIND FOREIGN LOST OK",
              "REDLOCK_INSPECT FREE HELD",
              "REDLOCK_STATUS AMNESIA FOREIGN VOTING",
              "REDLOCK_COUNTERS AMNESIA FOREIGN VOTING",
              "REDLOCK_READMIT FOREIGN OTHER_RUN READY VOTING WAITING")
          .map(line -> line.split(" ", -1))
          .flatMap(words -> Stream.of(words).skip(1).map(status -> words[0] + " " + status))
          .toList();

  @ParameterizedTest
  @EnumSource
  void scripts_randomSequences_answerAndLeaveTheSame(ServerRelease version) {
    try (RedisServerProcess server = version.start()) {
      compare(RealServers.of(server, version.hasShardedChannels()));
    }
  }

  @Test
  void scripts_randomSequencesOnCluster_answerAndLeaveTheSame() {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      compare(RealServers.of(cluster));
    }
  }

  private static void compare(RealServers real) {
    Set<String> seen = new TreeSet<>();
    for (long seed : seeds()) {
      System.out.println("ModelAgainstServersIT: -Dpaddock.model.seed=" + seed);
      try (ScriptSequence sequence = new ScriptSequence(seed, real, seen)) {
        sequence.run(OPERATIONS);
      }
    }
    if (Long.getLong("paddock.model.seed") == null) {
      assertThat(seen).containsAll(OUTCOMES);
    }
  }

  @ParameterizedTest
  @EnumSource
  void operations_randomSequences_endAlike(ServerRelease version) {
    try (RedisServerProcess server = version.start()) {
      for (long seed : seeds()) {
        new OperationSequence(
                seed,
                new RedisServerHarness(
                    server,
                    environment ->
                        RedisFillStore.open(
                            new SocketRedisTransport(server.port()), environment, OPTIONS)))
            .run();
      }
    }
  }

  @Test
  void operations_randomSequencesOnCluster_endAlike() {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      for (long seed : seeds()) {
        new OperationSequence(
                seed,
                new RedisServerHarness(
                    cluster,
                    environment ->
                        RedisFillStore.open(
                            new RoutingTransport(RealServers.of(cluster)), environment, OPTIONS)))
            .run();
      }
    }
  }

  private static long[] seeds() {
    Long only = Long.getLong("paddock.model.seed");
    if (only != null) {
      return new long[] {only};
    }
    SplittableRandom random = new SplittableRandom();
    int fresh = Integer.getInteger("paddock.model.sequences", 1);
    return LongStream.concat(
            LongStream.rangeClosed(1, FIXED), LongStream.generate(random::nextLong).limit(fresh))
        .toArray();
  }
}
