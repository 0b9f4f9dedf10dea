/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.paddock.spi.Environment;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps commands back after each connect until the server has said that it is a primary.
 *
 * <p>For some seconds after a failover a Sentinel may still name the old primary, which is a
 * replica by then and answers GET with old values as if nothing had happened. Such a server is left
 * again. If they go on naming a replica there is no primary for now: it is used for what it is,
 * like a server without Sentinels that has become a replica, and left every five seconds to look
 * again.
 *
 * <p>Who has no right to ROLE, or gets no answer in time, is let through: a script on a replica
 * fails with READONLY and leads away from there as well. Thread-safe.
 */
final class PrimaryCheck implements RedisConnectionStateListener {
  /** Sentinels tell each other of a failover once in a second or two. */
  private static final long AGAIN_NANOS = 250_000_000;

  /** How often a replica is left at once. */
  static final int REPLICAS_MAX = 8;

  private static final long STILL_NANOS = 5_000_000_000L;

  private final Environment environment;
  private final Link link;
  private final long answerNanos;
  private final Supplier<CompletionStage<List<Object>>> role;
  private final Runnable reconnect;
  private final Consumer<SocketAddress> onMoved;

  /** Counts connects, losses and verdicts: what was begun before the last of them is outdated. */
  private final AtomicLong era = new AtomicLong();

  /** How many replicas were met since the last primary. */
  private final AtomicInteger replicas = new AtomicInteger();

  private final AtomicReference<@Nullable SocketAddress> primary = new AtomicReference<>();

  /**
   * Makes a check that has not begun.
   *
   * @param answerNanos how long to wait for the answer
   * @param role asks the server for its role; may throw
   * @param reconnect leaves the server
   * @param onMoved told of the former primary's address when the connection is to another
   */
  PrimaryCheck(
      Environment environment,
      Link link,
      long answerNanos,
      Supplier<CompletionStage<List<Object>>> role,
      Runnable reconnect,
      Consumer<SocketAddress> onMoved) {
    this.environment = environment;
    this.link = link;
    this.answerNanos = answerNanos;
    this.role = role;
    this.reconnect = reconnect;
    this.onMoved = onMoved;
  }

  /** Asks the server of the first connection. */
  void begin(@Nullable SocketAddress address) {
    link.lost();
    connected(address);
  }

  @Override
  public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
    connected(address);
  }

  void connected(@Nullable SocketAddress address) {
    long mine = era.incrementAndGet();
    Environment.Timer timer =
        environment.schedule(() -> verdict(mine, false, address), answerNanos);
    CompletionStage<List<Object>> reply;
    try {
      reply = role.get();
    } catch (RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    reply.whenComplete(
        (says, failed) -> {
          timer.cancel();
          verdict(mine, failed == null && isReplica(says), address);
        });
  }

  @Override
  public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
    lost();
  }

  void lost() {
    era.incrementAndGet();
    link.lost();
  }

  private void verdict(long begun, boolean replica, @Nullable SocketAddress address) {
    if (!era.compareAndSet(begun, begun + 1)) {
      return;
    }
    if (replica) {
      boolean often = replicas.incrementAndGet() > REPLICAS_MAX;
      environment.schedule(() -> leave(begun + 1), often ? STILL_NANOS : AGAIN_NANOS);
      if (often) {
        link.up();
      }
      return;
    }
    replicas.set(0);
    link.up();
    SocketAddress former = primary.getAndSet(address);
    if (former != null && !former.equals(address)) {
      onMoved.accept(former);
    }
  }

  private void leave(long decided) {
    if (era.get() == decided) {
      reconnect.run();
    }
  }

  /** Tells whether a reply to ROLE is a replica's. */
  static boolean isReplica(@Nullable List<Object> role) {
    return role != null
        && !role.isEmpty()
        && role.get(0) instanceof byte[] first
        && new String(first, US_ASCII).equals("slave");
  }
}
