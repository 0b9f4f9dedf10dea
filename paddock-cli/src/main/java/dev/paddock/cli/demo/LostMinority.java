/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.StoreException;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.lettuce.LettuceRedis;
import dev.paddock.redis.lettuce.LettuceRedlock;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A lease by a majority of five servers: two die while it is held, and it holds; a third dies, and
 * nobody gets it any more.
 *
 * <p>On servers of its own, started and ended here.
 */
final class LostMinority implements Experiment {
  private static final int SERVERS = 5;
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);

  @Override
  public String name() {
    return "redlock";
  }

  @Override
  public String summary() {
    return "of 5 servers that keep a lease 2 die while it is held, then a third";
  }

  @Override
  public String expected(Settings settings) {
    return "held and renewed by the other 3, refused to others; with 2 left refused within "
        + limitMillis()
        + " ms";
  }

  /** Two rounds at most, and what a busy machine adds. */
  private static long limitMillis() {
    return 2 * COMMAND_TIMEOUT.toMillis() + Verdicts.GENEROUS_MILLIS;
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
  public Finding run(Stage stage) throws InterruptedException {
    List<RedisServerProcess> servers = new ArrayList<>();
    try {
      for (int i = 0; i < SERVERS; i++) {
        servers.add(RedisServerProcess.start());
      }
      LettuceRedlock redlock =
          LettuceRedis.redlock(servers.stream().map(RedisServerProcess::uri).toList());
      redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
      try (LeaseLock first = lock(redlock);
          LeaseLock second = lock(redlock)) {
        return TwoHolders.finding(verdict(servers, first, second));
      }
    } finally {
      servers.forEach(RedisServerProcess::close);
    }
  }

  private static LeaseLock lock(LettuceRedlock redlock) {
    return LeaseLock.newBuilder().store(redlock).commandTimeout(COMMAND_TIMEOUT).build();
  }

  private static Verdict verdict(
      List<RedisServerProcess> servers, LeaseLock first, LeaseLock second)
      throws InterruptedException {
    LeaseOptions once = LeaseOptions.defaults().leaseTime(LEASE);
    Lease lease =
        first
            .tryAcquire("job", once.renewFor(Duration.ofMinutes(5)))
            .orElseThrow(() -> new DemoException("the lease could not be had"));
    servers.get(0).kill();
    servers.get(1).kill();
    boolean kept = true;
    long start = System.nanoTime();
    while (System.nanoTime() - start < 2 * LEASE.toNanos()) {
      kept &= lease.isValid() && second.tryAcquire("job", once).isEmpty();
      TimeUnit.MILLISECONDS.sleep(100);
    }
    LeaseOutcome outcome = lease.release();
    Lease next =
        second
            .tryAcquire("job", once.waitTime(Duration.ofSeconds(30)))
            .orElseThrow(() -> new DemoException("the lease could not be had after its release"));
    next.release();
    servers.get(2).kill();
    long asked = System.nanoTime();
    long refusedMillis;
    try {
      boolean granted = first.tryAcquire("job", once).isPresent();
      refusedMillis = granted ? -1 : millisSince(asked);
    } catch (StoreException e) {
      refusedMillis = millisSince(asked);
    }
    return Verdicts.lostMinority(
        kept, outcome, lease.fencingToken(), next.fencingToken(), refusedMillis, limitMillis());
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}
