/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.paddock.LeaseInspection;
import dev.paddock.StoreException;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Leases on one Redis primary (or one shard of a cluster for each lease): for efficiency, where a
 * rare second holder only wastes work, or where the resource compares fencing tokens.
 *
 * <p>Granted, extended and released by one script each. While the primary keeps its data, two
 * leases of a name never overlap within their validity. A failover to a replica that had not heard
 * of a lease, an eviction and a flush lose it: then a second holder appears, with a greater token,
 * since a token is the larger of the counter's next value and the server's time in microseconds.
 * That order holds as long as the two servers' clocks differ by less than the failover takes.
 *
 * <p>Validity is the lease time less one per cent and 2 ms, for clocks that run at different rates
 * and for the server's resolution of a millisecond (as in Redis' description of Redlock, <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Distributed Locks
 * with Redis</a>).
 *
 * <p>Thread-safe; nothing but {@link #open} blocks. The store owns the transport and closes it.
 * When the server is slow or gone, stages complete late, exceptionally, or never, as the transport
 * has it.
 */
public final class RedisLeaseStore implements LeaseStore {
  private static final Duration LEASE_TIME_MIN = Duration.ofMillis(10);
  private static final Duration LEASE_TIME_MAX = Duration.ofDays(1);

  private static final byte[] NO_TURN = {};

  private final RedisTransport transport;
  private final Environment environment;
  private final ServerClocks clocks;
  private final ScriptCaller scripts;
  private final byte[] channels;
  private final String place;
  private final ConcurrentHashMap<String, LeaseLine> lines = new ConcurrentHashMap<>();
  private final int acks;
  private final long ackMillis;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RedisLeaseStore(
      RedisTransport transport,
      Environment environment,
      ServerClocks clocks,
      int acks,
      long ackMillis) {
    this.acks = acks;
    this.ackMillis = ackMillis;
    this.transport = transport;
    this.environment = environment;
    this.clocks = clocks;
    this.scripts = new ScriptCaller(transport, environment, clocks);
    this.place = LeaseLine.newPlace(environment);
    this.channels = new byte[] {(byte) (transport.shardedChannels() ? 'S' : 'P')};
  }

  /**
   * Opens a store: asks the server for its time, and waits for the answer no longer than the
   * connect time-out.
   *
   * @param transport the connection, which the store then owns and closes, also when this fails
   * @param environment clocks and timers, which the store does not close
   * @param options time-outs
   * @return the store
   * @throws StoreException if the server does not answer in time or answers with an error
   * @throws dev.paddock.PaddockInterruptedException if the thread is interrupted while it waits;
   *     its flag is set
   */
  public static RedisLeaseStore open(
      RedisTransport transport, Environment environment, StoreOptions options) {
    return open(transport, environment, options, 0);
  }

  /**
   * Opens a store that grants and extends a lease only when replicas have acknowledged it, by WAIT.
   * They are given half of a command time-out; a lease that too few have acknowledged is given
   * back, and the attempt is a failure. Other commands of the same connection wait meanwhile.
   *
   * <p>This makes it less likely that a failover loses a lease, not impossible: the replica that is
   * promoted may be one that had not acknowledged, and one that had may lose it by a restart.
   * Asking all replicas and keeping {@code min-replicas-to-write} on the server comes closest.
   *
   * @param transport the connection, which the store then owns and closes, also when this fails
   * @param environment clocks and timers, which the store does not close
   * @param options time-outs
   * @param replicas how many replicas have to acknowledge; 0 for none
   * @return the store
   * @throws IllegalArgumentException if the number is negative, or the transport can't wait for
   *     replicas: a cluster's can't
   * @throws StoreException if the server does not answer in time or answers with an error
   * @throws dev.paddock.PaddockInterruptedException if the thread is interrupted while it waits;
   *     its flag is set
   */
  public static RedisLeaseStore open(
      RedisTransport transport, Environment environment, StoreOptions options, int replicas) {
    if (replicas < 0 || (replicas > 0 && !(transport instanceof ReplicaAcks))) {
      transport.close();
      throw new IllegalArgumentException(
          replicas < 0
              ? "the number of replicas must not be negative, is " + replicas
              : "leases on a Redis Cluster can't wait for replicas: leave the number out");
    }
    return StoreOpening.open(
        transport,
        options,
        openAsync(transport, environment, options, replicas),
        RedisLeaseStore::close);
  }

  /**
   * Opens a store without blocking: for threads that must not wait, and for virtual time.
   *
   * @param transport the connection, which the store then owns and closes, also when this fails
   * @param environment clocks and timers, which the store does not close
   * @param options time-outs
   * @return the store; completes exceptionally with a {@link StoreException} if the server does not
   *     answer within the connect time-out, or answers with an error
   */
  public static CompletionStage<RedisLeaseStore> openAsync(
      RedisTransport transport, Environment environment, StoreOptions options) {
    return openAsync(transport, environment, options, 0);
  }

  private static CompletionStage<RedisLeaseStore> openAsync(
      RedisTransport transport, Environment environment, StoreOptions options, int replicas) {
    long ackMillis = Math.max(1, options.commandTimeout().toMillis() / 2);
    return StoreOpening.openAsync(
        transport,
        environment,
        options,
        clocks -> new RedisLeaseStore(transport, environment, clocks, replicas, ackMillis));
  }

  @Override
  public String kind() {
    return "redis";
  }

  @Override
  public Duration leaseTimeMin() {
    return LEASE_TIME_MIN;
  }

  @Override
  public Duration leaseTimeMax() {
    return LEASE_TIME_MAX;
  }

  /** One connection leads to the server of a lease. */
  @Override
  public boolean inOrder() {
    return true;
  }

  @Override
  public Duration patience(Duration commandTimeout) {
    return acks == 0 ? commandTimeout : commandTimeout.multipliedBy(2);
  }

  /**
   * Passes a reply on, or a failure if it brought or extended a lease and too few replicas have
   * acknowledged that.
   */
  private <T> CompletionStage<T> acknowledged(
      String operation, String name, Object server, T reply, boolean written) {
    if (!written || !(transport instanceof ReplicaAcks replicas) || acks == 0) {
      return CompletableFuture.completedFuture(reply);
    }
    byte[] key = LeaseKeys.of(name)[0];
    CompletionStage<Long> acknowledging;
    try {
      acknowledging = replicas.awaitReplicas(acks, ackMillis);
    } catch (RuntimeException e) {
      acknowledging = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    acknowledging.whenComplete(
        (count, error) -> {
          if (error != null) {
            result.completeExceptionally(
                Failures.of(operation, "the lease " + name, Failures.unwrap(error)));
          } else if (count >= acks && server.equals(transport.nodeOf(key))) {
            result.complete(reply);
          } else {
            result.completeExceptionally(
                new StoreException(
                    operation
                        + " of the lease "
                        + name
                        + ": "
                        + (count < acks
                            ? count + " of " + acks + " replicas acknowledged it"
                            : "the connection was lost before replicas could acknowledge it")
                        + " within "
                        + ackMillis
                        + " ms",
                    null,
                    true));
          }
        });
    return result;
  }

  /** What is taken off for clocks: one per cent and 2 ms. */
  static long validMillis(long leaseMillis) {
    return leaseMillis - (leaseMillis + 99) / 100 - 2;
  }

  @Override
  public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
    CompletableFuture<LeaseReply> result = new CompletableFuture<>();
    LeaseLine line = lines.get(request.name());
    byte[] turn =
        line == null || request.waiting() == LeaseRequest.Waiting.NOBODY
            ? NO_TURN
            : line.takeTurn().getBytes(ISO_8859_1);
    acquire(request, turn, request.validForMillis(), true, result);
    return result;
  }

  private void acquire(
      LeaseRequest request,
      byte[] turn,
      long validForMillis,
      boolean again,
      CompletableFuture<LeaseReply> result) {
    byte[][] keys = LeaseKeys.of(request.name());
    byte[][] args = {
      request.owner().getBytes(US_ASCII),
      ScriptArguments.plain(request.leaseMillis()),
      ScriptArguments.millis(
          clocks.nowMillis(keys[0]) + Math.min(validForMillis, ScriptArguments.MILLIS_MAX)),
      request.waiting().name().getBytes(US_ASCII),
      place.getBytes(US_ASCII),
      turn
    };
    long asked = environment.nanoTime();
    Object server = transport.nodeOf(keys[0]);
    this.<LeaseReply>call(
            LeaseScript.LEASE_ACQUIRE,
            "ACQUIRE",
            request.name(),
            keys,
            args,
            reply -> LeaseReplies.lease(reply, validMillis(request.leaseMillis())))
        .thenCompose(
            reply ->
                acknowledged(
                    "ACQUIRE",
                    request.name(),
                    server,
                    reply,
                    reply.status() == LeaseReply.Status.GRANTED))
        .whenComplete(
            (reply, error) -> {
              if (error != null) {
                result.completeExceptionally(Failures.unwrap(error));
                return;
              }
              long left =
                  validForMillis - TimeUnit.NANOSECONDS.toMillis(environment.nanoTime() - asked);
              // The estimate of the server's clock may have been wrong; the answer has mended it.
              if (reply.status() == LeaseReply.Status.TOO_LATE && again && left > 0) {
                acquire(request, turn, left, false, result);
              } else {
                result.complete(reply);
              }
            });
  }

  @Override
  public CompletionStage<LeaseExtension> extend(
      String name, String owner, long token, long leaseMillis) {
    ScriptArguments.atLeast(1, leaseMillis, "leaseMillis");
    byte[][] args = {owner.getBytes(US_ASCII), ScriptArguments.millis(leaseMillis)};
    byte[][] keys = LeaseKeys.of(name);
    Object server = transport.nodeOf(keys[0]);
    CompletionStage<LeaseExtension> extending =
        call(
            LeaseScript.LEASE_EXTEND,
            "EXTEND",
            name,
            keys,
            args,
            reply -> LeaseReplies.extension(reply, validMillis(leaseMillis)));
    return acks == 0
        ? extending
        : extending.thenCompose(
            reply -> acknowledged("EXTEND", name, server, reply, reply.extended()));
  }

  @Override
  public CompletionStage<Boolean> release(String name, String owner) {
    byte[][] args = {owner.getBytes(US_ASCII), channels};
    return call(
        LeaseScript.LEASE_RELEASE,
        "RELEASE",
        name,
        LeaseKeys.of(name),
        args,
        LeaseReplies::release);
  }

  @Override
  public HintSubscription subscribe(String name, Runnable onHint) {
    if (closed.get()) {
      return NoHints.INSTANCE;
    }
    LeaseLine line =
        new LeaseLine(
            environment,
            place,
            onHint,
            ended -> lines.remove(name, ended),
            onMessage -> transport.subscribe(LeaseKeys.of(name)[0], onMessage));
    lines.put(name, line);
    return line;
  }

  @Override
  public CompletionStage<LeaseInspection> inspect(String name) {
    byte[][] keys = LeaseKeys.of(name);
    String node = String.valueOf(transport.nodeOf(keys[0]));
    long sentNanos = environment.nanoTime();
    Function<LeaseReplies.Inspection, LeaseInspection> report =
        inspection -> {
          long halfMillis = TimeUnit.NANOSECONDS.toMillis((environment.nanoTime() - sentNanos) / 2);
          return new LeaseInspection(
              name,
              inspection.owner() == null
                  ? LeaseInspection.Verdict.FREE
                  : LeaseInspection.Verdict.HELD,
              List.of(
                  new LeaseInspection.Node(
                      node,
                      inspection.owner(),
                      inspection.token(),
                      Duration.ofMillis(inspection.leftMillis()),
                      Duration.ofMillis(
                          inspection.nowMillis() + halfMillis - environment.wallMillis()),
                      null)));
        };
    return this.<LeaseReplies.Inspection>call(
            LeaseScript.LEASE_INSPECT,
            "INSPECT",
            name,
            keys,
            new byte[0][],
            LeaseReplies::inspection)
        .thenApply(report);
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      clocks.close();
      transport.close();
    }
  }

  private <T> CompletionStage<T> call(
      LeaseScript script,
      String operation,
      String name,
      byte[][] keys,
      byte[][] args,
      LeaseReplies.Decoder<T> decoder) {
    String shown = "the lease " + name;
    if (closed.get()) {
      return CompletableFuture.failedFuture(Failures.closed(operation, shown));
    }
    return scripts.call(
        script.text(),
        operation,
        shown,
        keys,
        args,
        (reply, clock) -> LeaseReplies.decode(reply, clock, decoder));
  }
}
