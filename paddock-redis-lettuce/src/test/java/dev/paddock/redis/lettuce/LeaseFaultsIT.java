/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseInspection.Verdict;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.StoreException;
import dev.paddock.redis.FencedWrite;
import dev.paddock.testkit.PrimaryWithReplicas;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SentinelGroup;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases on a real primary that is flushed, full, paused, or lost. */
@Timeout(240)
final class LeaseFaultsIT {
  private static final LeaseOptions LONG =
      LeaseOptions.defaults().leaseTime(Duration.ofMinutes(10));
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static List<?> leaseKeys(RedisServerProcess server) {
    return (List<?>) requireNonNull(server.console().command("KEYS", "pdk:lease:{*}:*"));
  }

  @Test
  void scriptFlush_beforeTheRelease_isReleased() {
    try (RedisServerProcess server = RedisServerProcess.start();
        LeaseLock lock = LeaseLock.connect(server.uri())) {
      Lease lease = lock.tryAcquire("job", LONG).orElseThrow();
      server.console().command("SCRIPT", "FLUSH");
      assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);
      assertThat(leaseKeys(server)).isEmpty();
    }
  }

  @Test
  void outOfMemory_refusesTheAcquireAndNotTheExtensionOrTheRelease() {
    try (RedisServerProcess server = RedisServerProcess.start();
        LeaseLock lock = LeaseLock.connect(server.uri())) {
      Lease lease = lock.tryAcquire("job", LONG).orElseThrow();
      server.console().command("CONFIG", "SET", "maxmemory", "1");
      assertThatThrownBy(() -> lock.tryAcquire("other", LONG))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("OOM");
      assertThat(lease.extend()).isEqualTo(dev.paddock.ExtensionOutcome.EXTENDED);
      assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);
      assertThat(leaseKeys(server)).isEmpty();
    }
  }

  @Test
  void flushAll_losesTheLeaseAndTheCounterButTokensGoOnGrowing() {
    try (RedisServerProcess server = RedisServerProcess.start();
        LeaseLock lock = LeaseLock.connect(server.uri())) {
      long last = 0;
      for (int i = 0; i < 20; i++) {
        Lease lease = lock.tryAcquire("job", LONG).orElseThrow();
        assertThat(lease.fencingToken()).isGreaterThan(last);
        last = lease.fencingToken();
        server.console().command("FLUSHALL");
        assertThat(lease.release()).isEqualTo(LeaseOutcome.LOST);
      }
    }
  }

  @Test
  void clientPause_longerThanTheTimeout_isHeldOnceByOneOwnerAndNothingLeaks() {
    try (RedisServerProcess server = RedisServerProcess.start();
        LeaseLock hasty =
            LeaseLock.newBuilder()
                .store(server.uri())
                .commandTimeout(Duration.ofMillis(300))
                .build();
        LeaseLock other = LeaseLock.connect(server.uri())) {
      hasty.tryAcquire("warm", LONG).orElseThrow().close();
      server.console().command("CLIENT", "PAUSE", "2000", "ALL");

      // Waits through several time-outs, each with an attempt of its own that is cleaned up behind.
      Lease lease = hasty.tryAcquire("job", LONG.waitTime(PATIENCE)).orElseThrow();

      assertThat(other.tryAcquire("job", LONG)).isEmpty();
      assertThat(leaseKeys(server)).hasSize(1);
      assertThat(lease.isValid()).isTrue();
      assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);
      await().atMost(PATIENCE).until(() -> leaseKeys(server).isEmpty());
      assertThat(other.inspect("job").join().verdict()).isEqualTo(Verdict.FREE);
    }
  }

  @Test
  void serverStopped_holderIsToldBeforeItsValidityEnds() throws InterruptedException {
    try (RedisServerProcess server = RedisServerProcess.start();
        LeaseLock lock = LeaseLock.connect(server.uri())) {
      CountDownLatch lost = new CountDownLatch(1);
      boolean[] stillValid = new boolean[1];
      Lease lease =
          lock.tryAcquire(
                  "job",
                  LeaseOptions.defaults()
                      .leaseTime(Duration.ofSeconds(3))
                      .renewFor(Duration.ofMinutes(10)))
              .orElseThrow();
      lease.onLost(
          () -> {
            stillValid[0] = !lease.remaining().isNegative();
            lost.countDown();
          });
      server.pause();
      try {
        assertThat(lost.await(60, TimeUnit.SECONDS)).isTrue();
        await().atMost(PATIENCE).until(() -> !lease.isValid());
      } finally {
        server.resume();
      }
      assertThat(lease.release()).isEqualTo(LeaseOutcome.EXPIRED);
    }
  }

  @Test
  void primaryKilledBeforeTheLeaseWasReplicated_hasASuccessorWithAGreaterTokenAndTheFenceHolds()
      throws Exception {
    try (SentinelGroup group = SentinelGroup.start(Duration.ofSeconds(2));
        RedisServerProcess resource = RedisServerProcess.start();
        LeaseLock old = LeaseLock.connect(group.uri());
        LeaseLock next = LeaseLock.connect(group.uri());
        Resource board = new Resource(resource)) {
      RedisServerProcess primary = group.primary();
      // No replica hears of the lease, nor of the counter.
      for (RedisServerProcess server : group.servers()) {
        if (server != primary) {
          server.console().command("REPLICAOF", "127.0.0.1", "1");
        }
      }
      Lease stale = old.tryAcquire("job", LONG).orElseThrow();
      group.killPrimary();
      group.awaitNewPrimary(primary);

      Optional<Lease> acquired = Optional.empty();
      long start = System.nanoTime();
      while (acquired.isEmpty() && System.nanoTime() - start < PATIENCE.toNanos()) {
        try {
          acquired = next.tryAcquire("job", LONG.waitTime(Duration.ofSeconds(5)));
        } catch (StoreException e) {
          // The failover is not over for this client yet.
          assertThat(e).hasMessageContaining("job");
        }
      }
      Lease fresh = acquired.orElseThrow();

      assertThat(stale.isValid()).as("both believe that they hold it").isTrue();
      assertThat(fresh.isValid()).isTrue();
      assertThat(fresh.fencingToken()).isGreaterThan(stale.fencingToken());
      assertThat(board.write(fresh, "new").accepted()).isTrue();
      assertThat(board.write(stale, "stale"))
          .isEqualTo(new FenceOutcome.Rejected(stale.fencingToken(), fresh.fencingToken()));
      assertThat(board.value()).isEqualTo("new");
      assertThat(stale.release()).isIn(LeaseOutcome.LOST, LeaseOutcome.UNKNOWN);
      assertThat(next.inspect("job").join().nodes().get(0).owner()).isEqualTo(fresh.uniqueId());
    }
  }

  @Test
  void acknowledgedByReplicas_isOnThemWhenItIsGrantedAndRefusedWithoutThem() {
    try (PrimaryWithReplicas servers = PrimaryWithReplicas.start(2);
        LeaseLock lock =
            LeaseLock.newBuilder()
                .store(LettuceRedis.leasesAcknowledgedBy(2, servers.primary().uri()))
                .build()) {
      servers.awaitSync();
      Lease lease = lock.tryAcquire("job", LONG).orElseThrow();
      for (RedisServerProcess replica : servers.replicas()) {
        assertThat(leaseKeys(replica)).hasSize(1);
      }
      assertThat(lease.release()).isEqualTo(LeaseOutcome.RELEASED);

      servers.replicas().get(0).pause();
      try {
        assertThatThrownBy(() -> lock.tryAcquire("job", LONG))
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("1 of 2 replicas");
        await().atMost(PATIENCE).until(() -> leaseKeys(servers.primary()).isEmpty());
      } finally {
        servers.replicas().get(0).resume();
      }
    }
  }

  /** A fenced value on a server of its own. */
  private static final class Resource implements AutoCloseable {
    private static final byte[] KEY = "board".getBytes(UTF_8);
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    Resource(RedisServerProcess server) {
      client = RedisClient.create(server.uri());
      connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    FenceOutcome write(Lease lease, String value) {
      return FencedWrites.send(
              connection.async(), FencedWrite.set(KEY, value.getBytes(UTF_8), null, lease))
          .toCompletableFuture()
          .join();
    }

    String value() {
      return new String(connection.sync().get(KEY), UTF_8);
    }

    @Override
    public void close() {
      connection.close();
      client.shutdown();
    }
  }
}
