/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.redis.FencedWrite;
import dev.paddock.redis.lettuce.FencedWrites;
import dev.paddock.testkit.PrimaryWithReplicas;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A primary dies before a lease has reached its replica, which is promoted: two holders, of whom
 * the resource has to tell the stale one.
 *
 * <p>On servers of its own, started and ended here: a primary with a replica for the lease, and one
 * more that is the resource. Each holder writes two values, one with its token and one without.
 */
final class TwoHolders implements Experiment {
  private static final Duration LEASE = Duration.ofMinutes(5);
  private static final byte[] FENCED = "fenced".getBytes(UTF_8);
  private static final byte[] UNFENCED = "unfenced".getBytes(UTF_8);

  @Override
  public String name() {
    return "failover";
  }

  @Override
  public String summary() {
    return "a lease's primary dies before its replica has heard of the lease";
  }

  @Override
  public String expected(Settings settings) {
    return "2 holders, the second with the greater token; the fence refuses the first, which"
        + " overwrites only what has no fence";
  }

  @Override
  public Set<Topology> topologies() {
    return EnumSet.of(Topology.STANDALONE);
  }

  @Override
  public Set<Strategy> strategies() {
    return EnumSet.noneOf(Strategy.class);
  }

  @Override
  public Finding run(Stage stage) {
    try (PrimaryWithReplicas servers = PrimaryWithReplicas.start(1);
        RedisServerProcess resource = RedisServerProcess.start();
        Values values = new Values(resource);
        LeaseLock first = LeaseLock.connect(servers.primary().uri())) {
      RedisServerProcess replica = servers.replicas().get(0);
      servers.awaitSync();
      // From here on the replica hears of nothing: neither of the lease nor of the counter.
      replica.console().command("REPLICAOF", "127.0.0.1", "1");
      Lease old = held(first);
      servers.primary().kill();
      replica.console().command("REPLICAOF", "NO", "ONE");
      try (LeaseLock second = LeaseLock.connect(replica.uri());
          Lease next = held(second)) {
        boolean both = old.isValid() && next.isValid();
        boolean accepted = values.write(next, "new").accepted();
        FenceOutcome late = values.write(old, "stale");
        return finding(
            Verdicts.twoHolders(
                both,
                old.fencingToken(),
                next.fencingToken(),
                accepted,
                late,
                values.get(FENCED),
                values.get(UNFENCED)));
      }
    }
  }

  private static Lease held(LeaseLock lock) {
    Optional<Lease> lease =
        lock.tryAcquire(
            "job", LeaseOptions.defaults().leaseTime(LEASE).waitTime(Duration.ofSeconds(30)));
    return lease.orElseThrow(() -> new DemoException("the lease could not be had"));
  }

  /** Under a lease there are holders instead of loads, and nobody asks for a value. */
  static Finding finding(Verdict verdict) {
    return new Finding(0, 0, 0, new Waits(0, 0, 0), null, 0, verdict);
  }

  /** What the holders write. */
  private static final class Values implements AutoCloseable {
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    Values(RedisServerProcess server) {
      client = RedisClient.create(server.uri());
      connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    FenceOutcome write(Lease lease, String value) {
      byte[] bytes = value.getBytes(UTF_8);
      connection.sync().set(UNFENCED, bytes);
      return FencedWrites.send(connection.async(), FencedWrite.set(FENCED, bytes, null, lease))
          .toCompletableFuture()
          .join();
    }

    String get(byte[] key) {
      byte @Nullable [] value = connection.sync().get(key);
      return value == null ? "nothing" : new String(value, UTF_8);
    }

    @Override
    public void close() {
      connection.close();
      client.shutdown();
    }
  }
}
