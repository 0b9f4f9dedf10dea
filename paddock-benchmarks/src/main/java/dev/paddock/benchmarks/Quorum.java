/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import dev.paddock.Lease;
import dev.paddock.LeaseLock;
import dev.paddock.LeaseOptions;
import dev.paddock.LeaseOutcome;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Leases by a majority of servers, and beside them the least that asking these servers takes: one
 * script sent to all of them at once over plain Lettuce, until the slowest has answered. And
 * Paddock's scripts sent in this way, which tells what they cost from what the process costs. One
 * thread at a time.
 */
final class Quorum implements AutoCloseable {
  private static final LeaseOptions OPTIONS =
      LeaseOptions.defaults().leaseTime(Duration.ofMillis(LuaScript.LEASE_MILLIS));
  private static final long LIMIT_SECONDS = 60;

  // As PROTOCOL.md has them.
  private static final byte[] COUNTERS = LuaScript.bytes("pdk:{redlock}:c");
  private static final byte[] EPOCH = LuaScript.bytes("pdk:{redlock}:e");
  private static final byte[] FINGERPRINT = LuaScript.bytes("f");
  private static final byte[] BY_HAND = LuaScript.bytes("pdk:{redlock}:l:by-hand");

  private static final int BUCKETS = 1024;
  private static final String NAME = "quorum";
  private static final byte[] BUCKET =
      LuaScript.bytes(SlotHash.getSlot(LuaScript.bytes(NAME)) % BUCKETS);

  private static final byte[] BARE_KEY = LuaScript.bytes("bare:lock");
  private static final byte[] BARE_COUNTERS = LuaScript.bytes("bare:counters");

  /** To take what is free, and to count: no vote with a token can do with less. */
  private static final byte[] BARE_VOTE =
      LuaScript.bytes(
          "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then"
              + " return redis.call('HINCRBY', KEYS[2], ARGV[3], 1) end"
              + " return 0");

  private static final String CALLS = "cmdstat_evalsha:calls=";

  private final LeaseLock leases;
  private final RedisClient client = RedisClient.create();
  private final List<RedisAsyncCommands<byte[], byte[]>> servers = new ArrayList<>();
  private final String bareVote;
  private final String ownVote;
  private final String ownCommit;
  private final byte[] fingerprint;

  Quorum(List<String> uris) throws Exception {
    leases = LeaseLock.newBuilder().store(LettuceRedis.redlock(uris)).build();
    for (String uri : uris) {
      servers.add(client.connect(ByteArrayCodec.INSTANCE, RedisURI.create(uri)).async());
    }
    bareVote = all(redis -> redis.scriptLoad(BARE_VOTE)).get(0);
    byte[] vote = LuaScript.ofRedlock("redlock_acquire.lua");
    byte[] commit = LuaScript.ofRedlock("redlock_commit.lua");
    ownVote = all(redis -> redis.scriptLoad(vote)).get(0);
    ownCommit = all(redis -> redis.scriptLoad(commit)).get(0);
    fingerprint = all(redis -> redis.hget(EPOCH, FINGERPRINT)).get(0);
  }

  /**
   * Acquires by Paddock, by the bare votes and by Paddock's scripts sent by hand in turns, and
   * releases without looking at the clock.
   *
   * @param commit whether a second round is to be needed each time
   * @param pairs how often
   */
  Report.Paired measure(boolean commit, int pairs) throws Exception {
    level(0);
    long callsBefore = scriptCalls();
    List<Long> nanos = new ArrayList<>();
    List<Long> boundNanos = new ArrayList<>();
    List<Long> handNanos = new ArrayList<>();
    for (int i = 0; i < pairs; i++) {
      if (commit) {
        level(1);
      }
      settle();
      nanos.add(acquire());
      settle();
      boundNanos.add(bare());
      settle();
      handNanos.add(byHand(commit));
    }
    settle();
    double calls = (scriptCalls() - callsBefore) / (double) (pairs * servers.size());
    return new Report.Paired(nanos, boundNanos, handNanos, calls - (commit ? 3 : 2));
  }

  private long acquire() {
    long start = System.nanoTime();
    Lease lease =
        leases
            .tryAcquire(NAME, OPTIONS)
            .orElseThrow(() -> new IllegalStateException("a lease that nobody else wants is held"));
    long nanos = System.nanoTime() - start;
    LeaseOutcome outcome = lease.release();
    if (outcome != LeaseOutcome.RELEASED) {
      throw new IllegalStateException("a lease ended as " + outcome);
    }
    return nanos;
  }

  private long bare() throws Exception {
    long start = System.nanoTime();
    byte[] owner = LuaScript.bytes(UUID.randomUUID().toString());
    byte[][] keys = {BARE_KEY, BARE_COUNTERS};
    byte[][] args = {owner, LuaScript.bytes(LuaScript.LEASE_MILLIS), BUCKET};
    List<Long> votes = all(redis -> redis.evalsha(bareVote, ScriptOutputType.INTEGER, keys, args));
    long nanos = System.nanoTime() - start;
    if (votes.contains(0L)) {
      throw new IllegalStateException("a lock that nobody else wants is held");
    }
    all(redis -> redis.del(BARE_KEY));
    return nanos;
  }

  private long byHand(boolean commit) throws Exception {
    long start = System.nanoTime();
    byte[] owner = LuaScript.bytes(UUID.randomUUID().toString());
    byte[][] keys = {BY_HAND, COUNTERS, EPOCH};
    byte[][] vote = {
      owner,
      LuaScript.bytes(LuaScript.LEASE_MILLIS),
      LuaScript.bytes(System.currentTimeMillis() + LuaScript.LEASE_MILLIS),
      LuaScript.bytes("NOBODY"),
      BUCKET,
      fingerprint
    };
    byte[] greatest =
        this.<List<byte[]>>all(redis -> redis.evalsha(ownVote, ScriptOutputType.MULTI, keys, vote))
            .stream()
            .map(reply -> answer(reply, "GRANTED"))
            .max(Arrays::compare)
            .orElseThrow();
    if (commit) {
      byte[][] args = {owner, greatest, BUCKET, fingerprint};
      this.<List<byte[]>>all(redis -> redis.evalsha(ownCommit, ScriptOutputType.MULTI, keys, args))
          .forEach(reply -> answer(reply, "OK"));
    }
    long nanos = System.nanoTime() - start;
    all(redis -> redis.del(BY_HAND));
    return nanos;
  }

  /** Returns the token in the answer of a script of Paddock. */
  private static byte[] answer(List<byte[]> reply, String expected) {
    String status = new String(reply.get(0), StandardCharsets.US_ASCII);
    if (!status.equals(expected)) {
      throw new IllegalStateException("a vote by hand was answered " + status);
    }
    return reply.get(2);
  }

  /** Asks all servers at once, and waits for all. */
  private <T> List<T> all(Function<RedisAsyncCommands<byte[], byte[]>, RedisFuture<T>> command)
      throws InterruptedException, ExecutionException, TimeoutException {
    List<CompletableFuture<T>> answers = new ArrayList<>();
    for (RedisAsyncCommands<byte[], byte[]> redis : servers) {
      answers.add(command.apply(redis).toCompletableFuture());
    }
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
    return answers.stream().map(CompletableFuture::join).toList();
  }

  /** Lets the servers finish what a majority was not waited for. */
  private void settle() throws Exception {
    all(RedisAsyncCommands::ping);
  }

  /**
   * Raises the counters of the bucket to the greatest of them, on each server by so much more than
   * on the one before. With a step no two votes are the same, and none is a majority's.
   */
  private void level(int step) throws Exception {
    long greatest = 1;
    for (byte[] counter : all(redis -> redis.hget(COUNTERS, BUCKET))) {
      greatest =
          counter == null
              ? greatest
              : Math.max(greatest, Long.parseLong(new String(counter, StandardCharsets.US_ASCII)));
    }
    List<CompletableFuture<?>> answers = new ArrayList<>();
    for (int i = 0; i < servers.size(); i++) {
      byte[] counter = LuaScript.bytes(greatest + (long) i * step);
      answers.add(servers.get(i).hset(COUNTERS, BUCKET, counter).toCompletableFuture());
    }
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new))
        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  /** How many scripts the servers have run for clients that knew them to be there. */
  private long scriptCalls() throws Exception {
    return all(redis -> redis.info("commandstats")).stream()
        .flatMap(String::lines)
        .filter(line -> line.startsWith(CALLS))
        .mapToLong(line -> Long.parseLong(line.substring(CALLS.length(), line.indexOf(','))))
        .sum();
  }

  @Override
  public void close() {
    leases.close();
    client.shutdown();
  }
}
