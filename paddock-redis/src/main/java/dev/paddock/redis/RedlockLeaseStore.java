/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.util.Objects.requireNonNull;

import dev.paddock.LeaseInspection;
import dev.paddock.PaddockException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedlockReplies.Inspection;
import dev.paddock.redis.RedlockReplies.Standing;
import dev.paddock.spi.Environment;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import dev.paddock.spi.LeaseStore;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leases by a majority of independent Redis servers (Redlock), with fencing tokens.
 *
 * <p>Survives the loss of a minority of the servers, their leases and their counters. Two tokens
 * differ, and of two leases of which one was returned before the other was asked for the earlier
 * one has the smaller token: that takes no clock, only that a restarted server does not vote before
 * it knows again what it had forgotten, which each server checks in each script. That two leases do
 * not overlap in time does take clocks that run at about the same rate and are not set: a clock
 * that jumps beyond a lease lets a second holder in, and then the resource has to compare tokens.
 *
 * <p>The lease is never longer than {@code leaseTimeMax}: so long a restarted server stays away
 * from votes. A group of servers has to be {@link #bootstrapAsync bootstrapped} once; until then,
 * and when a majority has lost its memory at once, no lease is granted, and the message says so.
 *
 * <p>The servers are independent primaries without replicas that could take their place, with the
 * {@code maxmemory-policy} noeviction. All clients name them alike.
 *
 * <p>Thread-safe; nothing but {@link #open} and {@link #bootstrap} blocks. The store owns the
 * transports and closes them. A server that is slow or gone is not waited for once a majority has
 * answered, and else for one command time-out. Too few servers: a {@link StoreException}.
 *
 * <p>After Redis' description of Redlock, <a
 * href="https://redis.io/docs/latest/develop/use/patterns/distributed-locks/">Distributed Locks
 * with Redis</a>, from which the drift of clocks is taken (one per cent and 2 ms), and which has
 * neither tokens nor a memory of restarts.
 *
 * @since 0.1.0
 */
public final class RedlockLeaseStore implements LeaseStore {
  /** The longest lease by default: one minute. */
  public static final Duration LEASE_TIME_MAX_DEFAULT = Duration.ofMinutes(1);

  private static final Duration LEASE_TIME_MIN = Duration.ofMillis(10);
  private static final Duration LEASE_TIME_LIMIT = Duration.ofDays(1);

  /** So that the store's own message arrives, not the engine's that there was none. */
  private static final Duration PATIENCE_MORE = Duration.ofMillis(50);

  private final RedlockGroup group;
  private final RedlockKeeper keeper;
  private final RedlockLeftovers leftovers;

  private RedlockLeaseStore(RedlockGroup group) {
    this.group = group;
    this.keeper = new RedlockKeeper(group);
    this.leftovers = new RedlockLeftovers(group);
  }

  /**
   * Opens a store, and waits for the servers' answers no longer than the connect time-out.
   *
   * @param nodes 3 to 31 independent servers; closed with the store, also when this fails
   * @param leaseTimeMax the longest lease, 10 ms to 1 day: all clients of the group need the same
   * @param environment clocks, timers, randomness; not closed
   * @param options time-outs
   * @return the store
   * @throws IllegalArgumentException if the number of servers or the longest lease is out of range,
   *     or a name is there twice
   * @throws StoreException if no majority answers in time, or one of those that do is not fit: the
   *     same server under two names, an evicting {@code maxmemory-policy}, a member of another
   *     group
   * @throws PaddockInterruptedException if the thread is interrupted while it waits; its flag is
   *     set
   */
  public static RedlockLeaseStore open(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      Environment environment,
      StoreOptions options) {
    CompletableFuture<RedlockLeaseStore> opening =
        openAsync(nodes, leaseTimeMax, environment, options).toCompletableFuture();
    return await(
        opening,
        options.connectTimeout(),
        nodes,
        "opening the store of leases",
        RedlockLeaseStore::close);
  }

  /**
   * Opens a store without blocking.
   *
   * @param nodes 3 to 31 independent servers; closed with the store, also when this fails
   * @param leaseTimeMax the longest lease, 10 ms to 1 day: all clients of the group need the same
   * @param environment clocks, timers, randomness; not closed
   * @param options time-outs
   * @return the store; completes exceptionally with a {@link StoreException} as {@link #open}
   *     throws it
   * @throws IllegalArgumentException as {@link #open}
   */
  public static CompletionStage<RedlockLeaseStore> openAsync(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      Environment environment,
      StoreOptions options) {
    RedlockGroup group = group(nodes, leaseTimeMax, environment, options);
    return new RedlockOpening(group, options.connectTimeout())
        .start()
        .thenApply(
            opened -> {
              RedlockLeaseStore store = new RedlockLeaseStore(group);
              store.keeper.start();
              return store;
            });
  }

  /**
   * Lets servers vote that do not remember: at the first start of a group, or when so many of its
   * servers have lost their memory at once that they can't be readmitted by the others. Does
   * nothing if a majority votes already. Blocks until it is done.
   *
   * @param nodes as for {@link #open}; closed when this returns
   * @param leaseTimeMax as for {@link #open}
   * @param occasion why, and so whether leases of before have to be waited for
   * @param environment clocks, timers; not closed
   * @param options time-outs
   * @throws IllegalArgumentException as {@link #open}
   * @throws StoreException if it failed, with what to do; it may be repeated at any time
   * @throws PaddockInterruptedException if the thread is interrupted while it waits; its flag is
   *     set
   */
  public static void bootstrap(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      RedlockBootstrap occasion,
      Environment environment,
      StoreOptions options) {
    CompletableFuture<Integer> done =
        bootstrapAsync(nodes, leaseTimeMax, occasion, environment, options).toCompletableFuture();
    Duration patience =
        options
            .connectTimeout()
            .plus(options.commandTimeout().multipliedBy(5))
            .plus(leaseTimeMax.multipliedBy(2))
            .plusSeconds(5);
    await(done, patience, nodes, "bootstrapping a group of servers", voting -> {});
  }

  /**
   * As {@link #bootstrap}, without blocking.
   *
   * @param nodes as for {@link #open}; closed when this completes
   * @param leaseTimeMax as for {@link #open}
   * @param occasion why, and so whether leases of before have to be waited for
   * @param environment clocks, timers; not closed
   * @param options time-outs
   * @return how many servers vote now; completes exceptionally with a {@link StoreException}
   * @throws IllegalArgumentException as {@link #open}
   */
  public static CompletionStage<Integer> bootstrapAsync(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      RedlockBootstrap occasion,
      Environment environment,
      StoreOptions options) {
    requireNonNull(occasion, "occasion");
    RedlockGroup group = group(nodes, leaseTimeMax, environment, options);
    return new RedlockFounding(group, occasion, options.connectTimeout())
        .start()
        .whenComplete((voting, error) -> group.close());
  }

  private static RedlockGroup group(
      List<RedlockNode> nodes,
      Duration leaseTimeMax,
      Environment environment,
      StoreOptions options) {
    requireNonNull(environment, "environment");
    try {
      if (leaseTimeMax.compareTo(LEASE_TIME_MIN) < 0
          || leaseTimeMax.compareTo(LEASE_TIME_LIMIT) > 0) {
        throw new IllegalArgumentException(
            "the longest lease must be between "
                + LEASE_TIME_MIN
                + " and "
                + LEASE_TIME_LIMIT
                + ", is "
                + leaseTimeMax);
      }
      return new RedlockGroup(nodes, leaseTimeMax, environment, options);
    } catch (IllegalArgumentException e) {
      nodes.forEach(node -> node.transport().close());
      throw e;
    }
  }

  private static <T> T await(
      CompletableFuture<T> stage,
      Duration patience,
      List<RedlockNode> nodes,
      String what,
      Consumer<T> closing) {
    PaddockException why;
    try {
      // The stage has a time-out of its own, whose message says more.
      return stage.get(patience.plusSeconds(1).toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      Throwable cause = Failures.unwrap(e);
      boolean may = cause instanceof StoreException known && known.mayHaveHappened();
      throw new StoreException(String.valueOf(cause.getMessage()), cause, may);
    } catch (TimeoutException e) {
      why = new StoreException(what + " took longer than " + patience, e, false);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = new PaddockInterruptedException("interrupted while " + what, e);
    }
    CompletionStage<T> late = stage;
    late.thenAccept(closing);
    nodes.forEach(node -> node.transport().close());
    throw why;
  }

  @Override
  public String kind() {
    return "redlock";
  }

  @Override
  public Duration leaseTimeMin() {
    return LEASE_TIME_MIN;
  }

  @Override
  public Duration leaseTimeMax() {
    return Duration.ofMillis(group.leaseMillisMax());
  }

  /** Two: one for the votes, one for the commit. */
  @Override
  public Duration patience(Duration commandTimeout) {
    return commandTimeout.multipliedBy(2).plus(PATIENCE_MORE);
  }

  @Override
  public CompletionStage<LeaseReply> acquire(LeaseRequest request) {
    checkLength(request.leaseMillis());
    return group.isClosed()
        ? CompletableFuture.failedFuture(RedlockGroup.closed("ACQUIRE", request.name()))
        : RedlockAcquire.start(group, keeper, leftovers, request);
  }

  /** A longer one could outlive a restarted server's absence. */
  private void checkLength(long leaseMillis) {
    if (leaseMillis < 1 || leaseMillis > group.leaseMillisMax()) {
      throw new IllegalArgumentException(
          "leaseMillis must be between 1 and "
              + group.leaseMillisMax()
              + ", the longest lease of this group, is "
              + leaseMillis);
    }
  }

  @Override
  public CompletionStage<LeaseExtension> extend(
      String name, String owner, long token, long leaseMillis) {
    checkLength(leaseMillis);
    return group.isClosed()
        ? CompletableFuture.failedFuture(RedlockGroup.closed("EXTEND", name))
        : new Extending(name, owner, leaseMillis).start();
  }

  /** Extends on a majority; lost only if a majority says so. */
  private final class Extending implements Round.Taker<LeaseExtension> {
    private final String name;
    private final String owner;
    private final long leaseMillis;
    private final Turns turns = new Turns();
    private final CompletableFuture<LeaseExtension> result = new CompletableFuture<>();
    private final List<String> others = new ArrayList<>();
    private int answers;
    private int extended;
    private int lost;

    Extending(String name, String owner, long leaseMillis) {
      this.name = name;
      this.owner = owner;
      this.leaseMillis = leaseMillis;
    }

    CompletionStage<LeaseExtension> start() {
      byte[][] keys = RedlockKeys.of(name);
      byte[][] args = {RedlockGroup.ascii(owner), ScriptArguments.millis(leaseMillis)};
      long valid = RedisLeaseStore.validMillis(leaseMillis);
      Round<LeaseExtension> round =
          new Round<>(
              turns,
              group.environment(),
              group.servers(),
              group.size(),
              group.timeoutNanos(),
              server ->
                  server.vote(
                      LeaseScript.LEASE_EXTEND.text(),
                      "EXTEND",
                      "the lease " + name + " on " + server,
                      new byte[][] {keys[0], keys[1]},
                      args,
                      reply -> LeaseReplies.extension(reply, valid)),
              this);
      CompletionStage<LeaseExtension> done = result;
      done.whenComplete((extension, error) -> turns.execute(round::end));
      turns.execute(round::start);
      return result;
    }

    @Override
    public void answered(
        RedlockServer server, @Nullable LeaseExtension reply, @Nullable StoreException error) {
      answers++;
      if (reply == null) {
        others.add(server + ": " + (error == null ? "" : error.getMessage()));
      } else if (reply.extended()) {
        extended++;
        if (extended >= group.majority()) {
          result.complete(reply);
        }
      } else {
        lost++;
        if (lost >= group.majority()) {
          result.complete(LeaseExtension.LOST);
        }
      }
      if (answers == group.size()) {
        result.completeExceptionally(
            new StoreException(
                "EXTEND of the lease "
                    + name
                    + ": no majority of the servers answered alike; "
                    + extended
                    + " extended it, "
                    + lost
                    + " do not have it; "
                    + String.join("; ", others),
                null,
                true));
      }
    }
  }

  /**
   * Frees a lease on all servers; those that do not answer are asked again in the background.
   *
   * @return true once a majority has freed it; false once a majority says that it is not this
   *     owner's, so that it can't have been held; fails with an unknown outcome if all have
   *     answered, or had their time, and it is neither
   */
  @Override
  public CompletionStage<Boolean> release(String name, String owner) {
    return group.isClosed()
        ? CompletableFuture.failedFuture(RedlockGroup.closed("RELEASE", name))
        : RedlockRelease.start(group, leftovers, name, owner);
  }

  /** Ready once a majority of the servers delivers hints. */
  @Override
  public HintSubscription subscribe(String name, Runnable onHint) {
    return group.isClosed() ? NoHints.INSTANCE : RedlockHints.subscribe(group, name, onHint);
  }

  @Override
  public CompletionStage<LeaseInspection> inspect(String name) {
    return group.isClosed()
        ? CompletableFuture.failedFuture(RedlockGroup.closed("INSPECT", name))
        : new Inspecting(name).start();
  }

  /** Asks all, and waits for each. */
  private final class Inspecting implements Round.Taker<Inspection> {
    private final String name;
    private final Turns turns = new Turns();
    private final CompletableFuture<LeaseInspection> result = new CompletableFuture<>();
    private final LeaseInspection.@Nullable Node[] nodes = new LeaseInspection.Node[group.size()];
    private final long sentNanos = group.environment().nanoTime();
    private int answers;

    Inspecting(String name) {
      this.name = name;
    }

    CompletionStage<LeaseInspection> start() {
      Round<Inspection> round =
          new Round<>(
              turns,
              group.environment(),
              group.servers(),
              group.size(),
              group.timeoutNanos(),
              server ->
                  server.call(
                      RedlockScript.REDLOCK_INSPECT.text(),
                      "INSPECT",
                      "the lease " + name,
                      RedlockKeys.of(name),
                      new byte[][] {group.fingerprint()},
                      RedlockReplies::inspection),
              this);
      CompletionStage<LeaseInspection> done = result;
      done.whenComplete((report, error) -> turns.execute(round::end));
      turns.execute(round::start);
      return result;
    }

    @Override
    public void answered(
        RedlockServer server, @Nullable Inspection reply, @Nullable StoreException error) {
      answers++;
      nodes[server.index()] = node(server, reply, error);
      if (answers == group.size()) {
        List<LeaseInspection.Node> all = new ArrayList<>();
        for (LeaseInspection.Node node : nodes) {
          all.add(requireNonNull(node));
        }
        result.complete(new LeaseInspection(name, verdict(all), all));
      }
    }

    private LeaseInspection.Node node(
        RedlockServer server, @Nullable Inspection reply, @Nullable StoreException error) {
      if (reply == null) {
        return new LeaseInspection.Node(
            server.toString(),
            null,
            0,
            Duration.ZERO,
            null,
            error == null ? "no answer" : String.valueOf(error.getMessage()));
      }
      Environment environment = group.environment();
      long half = TimeUnit.NANOSECONDS.toMillis((environment.nanoTime() - sentNanos) / 2);
      LeaseReplies.Inspection lease = reply.lease();
      return new LeaseInspection.Node(
          server.toString(),
          lease.owner(),
          lease.token(),
          Duration.ofMillis(lease.leftMillis()),
          Duration.ofMillis(lease.nowMillis() + half - environment.wallMillis()),
          server.fault() != null
              ? server.fault()
              : reply.standing() == Standing.VOTING
                  ? null
                  : "may not vote: it has lost its memory, or never was in this group");
    }

    private LeaseInspection.Verdict verdict(List<LeaseInspection.Node> all) {
      Map<String, Integer> owners = new HashMap<>();
      int heard = 0;
      for (LeaseInspection.Node node : all) {
        // One that has lost its memory does not know what it granted.
        heard += node.error() == null ? 1 : 0;
        if (node.owner() != null) {
          owners.merge(node.owner(), 1, Integer::sum);
        }
      }
      int most = owners.values().stream().mapToInt(Integer::intValue).max().orElse(0);
      if (most >= group.majority()) {
        return LeaseInspection.Verdict.HELD;
      }
      if (heard < group.majority()) {
        return LeaseInspection.Verdict.UNKNOWN;
      }
      return most == 0 ? LeaseInspection.Verdict.FREE : LeaseInspection.Verdict.SPLIT;
    }
  }

  @Override
  public void close() {
    if (group.close()) {
      keeper.close();
    }
  }
}
