/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.paddock.StoreException;
import dev.paddock.redis.RedlockReplies.Status;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The servers of a Redlock and what its operations have in common. */
final class RedlockGroup {
  static final int SERVERS_MIN = 3;
  static final int SERVERS_MAX = 31;

  private static final String SHOWN = "the server";

  private final List<RedlockServer> servers = new ArrayList<>();
  private final Environment environment;
  private final long timeoutNanos;
  private final long leaseMillisMax;
  private final byte[] fingerprint;
  private final AtomicBoolean closed = new AtomicBoolean();

  RedlockGroup(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      Environment environment,
      StoreOptions options) {
    List<String> addresses = nodes.stream().map(RedlockNode::address).toList();
    Set<String> different = new HashSet<>(addresses);
    if (nodes.size() < SERVERS_MIN || nodes.size() > SERVERS_MAX) {
      throw new IllegalArgumentException(
          "Redlock takes "
              + SERVERS_MIN
              + " to "
              + SERVERS_MAX
              + " independent servers, an odd number of them at best, not "
              + nodes.size());
    }
    if (different.size() < nodes.size()) {
      throw new IllegalArgumentException(
          "a server is named twice in "
              + String.join(",", addresses)
              + ": it would have two votes; name each server once");
    }
    for (RedlockNode node : nodes) {
      servers.add(new RedlockServer(servers.size(), node, environment));
    }
    this.environment = environment;
    this.timeoutNanos = options.commandTimeout().toNanos();
    this.leaseMillisMax = leaseTimeMax.toMillis();
    this.fingerprint = RedlockKeys.fingerprint(addresses, leaseMillisMax);
  }

  List<RedlockServer> servers() {
    return servers;
  }

  int size() {
    return servers.size();
  }

  int majority() {
    return servers.size() / 2 + 1;
  }

  Environment environment() {
    return environment;
  }

  /** How long one server may take for one request. */
  long timeoutNanos() {
    return timeoutNanos;
  }

  long leaseMillisMax() {
    return leaseMillisMax;
  }

  byte[] fingerprint() {
    return fingerprint.clone();
  }

  boolean isClosed() {
    return closed.get();
  }

  double randomUnit() {
    return (environment.randomLong() >>> 11) * 0x1.0p-53;
  }

  /** Runs a task later, unless everything is about to end. */
  Environment.@Nullable Timer schedule(Runnable task, long delayNanos) {
    try {
      return environment.schedule(task, delayNanos);
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /** Names all servers. */
  String addresses() {
    return servers.stream().map(RedlockServer::toString).collect(Collectors.joining(","));
  }

  /**
   * Meets a server: learns its time, its run and its standing, and whether it is fit to vote; see
   * {@link RedlockServer#fault}.
   */
  CompletionStage<Status> meet(RedlockServer server) {
    return server
        .greet()
        .thenCompose(
            nothing ->
                server.call(
                    RedlockScript.REDLOCK_STATUS.text(),
                    "STATUS",
                    SHOWN,
                    RedlockKeys.ofServer(),
                    new byte[][] {fingerprint},
                    RedlockReplies::status))
        .thenApply(
            status -> {
              server.met(status.runId());
              String unfit = unfit(server, status);
              boolean foreign = status.standing() == RedlockReplies.Standing.FOREIGN;
              server.blame(
                  unfit == null && foreign ? foreign(server) : unfit, unfit == null && foreign);
              return status;
            });
  }

  private @Nullable String unfit(RedlockServer server, Status status) {
    if (!status.mode().isEmpty() && !status.mode().equals("standalone")) {
      return server
          + " runs in the mode "
          + status.mode()
          + ": Redlock takes independent standalone primaries";
    }
    if (!status.evictionPolicy().isEmpty() && !status.evictionPolicy().equals("noeviction")) {
      return server
          + " has the maxmemory-policy "
          + status.evictionPolicy()
          + ", which may evict leases and counters: set it to noeviction";
    }
    for (RedlockServer other : servers) {
      if (other != server && status.runId().equals(other.runId())) {
        return server
            + " and "
            + other
            + " are the same server (run id "
            + status.runId()
            + "), which would have two votes: name independent servers";
      }
    }
    return null;
  }

  private static String foreign(RedlockServer server) {
    return server
        + " votes in a group with other servers, other names for them, or another longest lease:"
        + " configure all clients alike; to change the group, stop all its clients and bootstrap it"
        + " anew";
  }

  CompletionStage<RedlockReplies.Readmit> readmit(RedlockServer server, byte[]... more) {
    // One per cent and a little for clocks that run at different rates.
    long away = leaseMillisMax + leaseMillisMax / 100 + 2;
    byte[][] args = new byte[2 + more.length][];
    args[0] = fingerprint;
    args[1] = ScriptArguments.millis(away);
    System.arraycopy(more, 0, args, 2, more.length);
    return server.call(
        RedlockScript.REDLOCK_READMIT.text(),
        "READMIT",
        SHOWN,
        RedlockKeys.ofServer(),
        args,
        RedlockReplies::readmit);
  }

  CompletionStage<RedlockReplies.Counters> counters(RedlockServer server) {
    return server.call(
        RedlockScript.REDLOCK_COUNTERS.text(),
        "COUNTERS",
        SHOWN,
        RedlockKeys.ofServer(),
        new byte[][] {fingerprint},
        RedlockReplies::counters);
  }

  /** Puts a deadline on one request to one server; completes in a turn of its own. */
  <T> CompletionStage<T> within(long nanos, RedlockServer server, CompletionStage<T> stage) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Turns turns = new Turns();
    Round<T> round =
        new Round<>(
            turns,
            environment,
            List.of(server),
            size(),
            nanos,
            each -> stage,
            (each, reply, error) -> {
              if (error != null) {
                result.completeExceptionally(error);
              } else {
                result.complete(reply);
              }
            });
    CompletionStage<T> done = result;
    done.whenComplete((reply, error) -> turns.execute(round::end));
    turns.execute(round::start);
    return result;
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  static StoreException closed(String operation, String name) {
    return Failures.closed(operation, "the lease " + name);
  }

  /** Ends all connections. Tells whether this was the first call. */
  boolean close() {
    if (!closed.compareAndSet(false, true)) {
      return false;
    }
    servers.forEach(RedlockServer::close);
    return true;
  }
}
