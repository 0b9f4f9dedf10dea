/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.cli.process.Json;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The recipes in use: read the cache, else load, then write the cache; with the locks that are
 * usually put around that. Each is written as it is usually found, mistakes included.
 */
abstract class CacheAside implements Reading {
  private static final long POLL_MILLIS = 40;

  final RedisClusterCommands<String, String> redis;
  final Source source;
  private final String prefix;

  CacheAside(RedisClusterCommands<String, String> redis, Source source, String prefix) {
    this.redis = redis;
    this.source = source;
    this.prefix = prefix;
  }

  final String valueKey(Cell cell) {
    return valueKey(prefix, cell);
  }

  final String lockKey(Cell cell) {
    return lockKey(prefix, cell);
  }

  static String valueKey(String prefix, Cell cell) {
    return prefix + cell.name() + ":" + Cell.KEY;
  }

  static String lockKey(String prefix, Cell cell) {
    return valueKey(prefix, cell) + ":lock";
  }

  final @Nullable Leaderboard cached(Cell cell) {
    String json = redis.get(valueKey(cell));
    return json == null ? null : Json.read(json, Leaderboard.class);
  }

  final void store(Cell cell, Leaderboard value) {
    redis.psetex(valueKey(cell), Cell.TIME_TO_LIVE_MILLIS, Json.write(value));
  }

  static void pause(long millis) throws InterruptedException {
    // Spread, as callers that wait in step would all knock at once.
    TimeUnit.MICROSECONDS.sleep(
        ThreadLocalRandom.current().nextLong(millis * 500, millis * 1500 + 1));
  }

  @Override
  public final void seedExpired(Cell cell, Leaderboard value) throws InterruptedException {
    redis.psetex(valueKey(cell), 1, Json.write(value));
    while (redis.get(valueKey(cell)) != null) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @Override
  public final void invalidate(Cell cell) {
    redis.del(valueKey(cell));
  }

  /** No protection. */
  static final class Unprotected extends CacheAside {
    Unprotected(RedisClusterCommands<String, String> redis, Source source, String prefix) {
      super(redis, source, prefix);
    }

    @Override
    public Leaderboard read(Cell cell, Terms terms) throws Exception {
      Leaderboard value = cached(cell);
      if (value == null) {
        value = source.load(cell);
        store(cell, value);
      }
      return value;
    }
  }

  /** One load at a time in this process; others of this process wait for it. */
  static final class InProcess extends CacheAside {
    private final ConcurrentMap<String, CompletableFuture<Leaderboard>> flights =
        new ConcurrentHashMap<>();

    InProcess(RedisClusterCommands<String, String> redis, Source source, String prefix) {
      super(redis, source, prefix);
    }

    @Override
    public Leaderboard read(Cell cell, Terms terms) throws Exception {
      Leaderboard value = cached(cell);
      if (value != null) {
        return value;
      }
      CompletableFuture<Leaderboard> mine = new CompletableFuture<>();
      CompletableFuture<Leaderboard> other = flights.putIfAbsent(cell.name(), mine);
      if (other != null) {
        return other.get();
      }
      try {
        // A flight may have ended between the read above and the start of this one.
        value = cached(cell);
        if (value == null) {
          value = source.load(cell);
          store(cell, value);
        }
        mine.complete(value);
        return value;
      } catch (Exception e) {
        mine.completeExceptionally(e);
        throw e;
      } finally {
        flights.remove(cell.name(), mine);
      }
    }
  }

  /** A lock taken by two commands: whoever looks between them takes it as well. */
  static final class CheckThenSet extends CacheAside {
    /** Stands for a garbage collection or a slow network between the two commands. */
    private static final long BETWEEN_MILLIS = 10;

    CheckThenSet(RedisClusterCommands<String, String> redis, Source source, String prefix) {
      super(redis, source, prefix);
    }

    @Override
    public @Nullable Leaderboard read(Cell cell, Terms terms) throws Exception {
      while (terms.goesOn()) {
        Leaderboard value = cached(cell);
        if (value != null) {
          return value;
        }
        if (redis.exists(lockKey(cell)) == 0) {
          TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS);
          redis.psetex(lockKey(cell), Cell.TIME_TO_LIVE_MILLIS, "held");
          try {
            value = source.load(cell);
            store(cell, value);
            return value;
          } finally {
            redis.del(lockKey(cell));
          }
        }
        pause(POLL_MILLIS);
      }
      return null;
    }
  }

  /** A lock whose time to live is set by a second command, which a dead process never sends. */
  static final class SetnxThenExpire extends CacheAside {
    private final Consumer<Report> reports;

    SetnxThenExpire(
        RedisClusterCommands<String, String> redis,
        Source source,
        String prefix,
        Consumer<Report> reports) {
      super(redis, source, prefix);
      this.reports = reports;
    }

    @Override
    public @Nullable Leaderboard read(Cell cell, Terms terms) throws Exception {
      while (terms.goesOn()) {
        Leaderboard value = cached(cell);
        if (value != null) {
          return value;
        }
        if (redis.setnx(lockKey(cell), "held")) {
          reports.accept(new Report.BetweenCommands(cell.name()));
          // The coordinator kills this process now.
          while (terms.goesOn()) {
            pause(POLL_MILLIS);
          }
          redis.pexpire(lockKey(cell), cell.leaseMillis());
          try {
            value = source.load(cell);
            store(cell, value);
            return value;
          } finally {
            redis.del(lockKey(cell));
          }
        }
        pause(POLL_MILLIS);
      }
      return null;
    }
  }

  /**
   * A lock with a time to live that is shorter than the load. Here each caller wants a leaderboard
   * of its own (of its region, say), and the lock is there to let the database run one aggregation
   * at a time; so demand does not end with the first value.
   *
   * <p>That, and loads that take uneven times, are what makes the way of releasing show. Released
   * by token, a holder whose lock ran out changes nothing when it ends: locks are granted one per
   * lease, so no more loads run at once than leases fit into the longest load, plus one. Released
   * by DEL, such a holder deletes the lock of whoever holds it by then and lets in one more, who
   * deletes the next one's in turn: the number of holders never goes down, and goes up by one
   * whenever a lock gets to run out between two deletions.
   */
  static final class Lock extends CacheAside {
    private static final String RELEASE =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"
            + " return 0";

    private final Random tokens = new SecureRandom();
    private final boolean compares;

    Lock(
        RedisClusterCommands<String, String> redis,
        Source source,
        String prefix,
        boolean compares) {
      super(redis, source, prefix);
      this.compares = compares;
    }

    @Override
    public @Nullable Leaderboard read(Cell cell, Terms terms) throws Exception {
      String token = Long.toHexString(tokens.nextLong());
      SetArgs terminable = SetArgs.Builder.nx().px(cell.leaseMillis());
      while (terms.goesOn()) {
        long askedMicros = WallClock.micros();
        if ("OK".equals(redis.set(lockKey(cell), token, terminable))) {
          try {
            return source.load(cell, askedMicros);
          } finally {
            release(cell, token);
          }
        }
        pause(cell.leaseMillis() / 3);
      }
      return null;
    }

    private void release(Cell cell, String token) {
      if (compares) {
        redis.eval(RELEASE, ScriptOutputType.INTEGER, new String[] {lockKey(cell)}, token);
      } else {
        redis.del(lockKey(cell));
      }
    }
  }
}
