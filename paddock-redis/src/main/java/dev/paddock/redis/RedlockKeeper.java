/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.redis.RedlockReplies.Counter;
import dev.paddock.redis.RedlockReplies.Counters;
import dev.paddock.redis.RedlockReplies.Readmit;
import dev.paddock.redis.RedlockReplies.ReadmitStatus;
import dev.paddock.redis.RedlockReplies.Standing;
import dev.paddock.redis.RedlockReplies.Status;
import dev.paddock.spi.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Looks after the servers of a group: meets those that come back, and readmits them to votes. */
final class RedlockKeeper {
  /*
   * Each server is looked at once in a while, at once when one of its answers says AMNESIA, and again
   * when it may be readmitted. Any number of clients do that at the same time: each step is one script
   * that checks what it relies on (the run, the time, the standing) on the server itself.
   *
   * To readmit a server X:
   *
   *   1. ASK X. It names its run, and says when all leases are over that X may have forgotten.
   *   2. Collect the counters of a majority of all servers, X not among them, which all vote.
   *   3. REPAIR X, if it is still the same run: raises X's counters to that, then X votes.
   *
   * Why the collection is enough: take a token T that a majority of servers remembers, and X forgot.
   * At each moment those voting servers whose counter is below T are fewer than a majority: they were
   * when T was granted, and a server begins to vote only with a collection from a majority, which has
   * one among it that remembers T. So the collection for X has one too. And T was granted before X's
   * run began, so before the collection, since without E nobody has had a vote of this run of X.
   *
   * If fewer than a majority vote, nobody can be readmitted: some token may be forgotten everywhere.
   * Then people have to bootstrap the group.
   */
  private static final long LOOK_MILLIS = 10_000;
  private static final long LOOK_MILLIS_MIN = 500;
  private static final long RETRY_MILLIS = 1_000;
  private static final long NOTICED_MILLIS = 100;

  private final RedlockGroup group;
  private final long lookMillis;
  private final List<Watch> watches = new ArrayList<>();

  RedlockKeeper(RedlockGroup group) {
    this.group = group;
    this.lookMillis = Math.max(LOOK_MILLIS_MIN, Math.min(LOOK_MILLIS, group.leaseMillisMax() / 3));
    for (RedlockServer server : group.servers()) {
      watches.add(new Watch(server));
    }
  }

  /** Begins; the servers have been met, or tried, just before. */
  void start() {
    watches.forEach(watch -> watch.turns.execute(() -> watch.schedule(0)));
  }

  /** A server has said that it may not vote. */
  void noticed(RedlockServer server) {
    watches.get(server.index()).noticed();
  }

  void close() {
    watches.forEach(watch -> watch.turns.execute(watch::cancel));
  }

  /** One server. Its fields change in turns only. */
  private final class Watch {
    final Turns turns = new Turns();
    private final RedlockServer server;
    private Environment.@Nullable Timer timer;
    private boolean looking;
    private long lookedNanos = group.environment().nanoTime();

    Watch(RedlockServer server) {
      this.server = server;
    }

    void schedule(long millis) {
      cancel();
      if (!group.isClosed()) {
        timer =
            group.schedule(() -> turns.execute(this::look), TimeUnit.MILLISECONDS.toNanos(millis));
      }
    }

    void cancel() {
      if (timer != null) {
        timer.cancel();
        timer = null;
      }
    }

    void noticed() {
      turns.execute(
          () -> {
            if (looking) {
              return;
            }
            long since =
                TimeUnit.NANOSECONDS.toMillis(group.environment().nanoTime() - lookedNanos);
            if (since >= NOTICED_MILLIS) {
              look();
            }
          });
    }

    private void look() {
      if (looking || group.isClosed()) {
        return;
      }
      cancel();
      looking = true;
      lookedNanos = group.environment().nanoTime();
      // Meeting, asking, collecting and repairing, one after the other.
      group
          .within(4 * group.timeoutNanos(), server, group.meet(server).thenCompose(this::afterMet))
          .whenComplete(
              (nextMillis, error) ->
                  turns.execute(
                      () -> {
                        looking = false;
                        schedule(jittered(error == null ? nextMillis : RETRY_MILLIS));
                      }));
    }

    private long jittered(long millis) {
      return millis + (long) (millis / 4.0 * group.randomUnit());
    }

    /** Returns when to look next, in milliseconds. */
    private CompletionStage<Long> afterMet(Status status) {
      if (status.standing() != Standing.AMNESIA || server.fault() != null) {
        return CompletableFuture.completedFuture(lookMillis);
      }
      return group
          .readmit(server, RedlockGroup.ascii("ASK"), new byte[0])
          .thenCompose(this::afterAsked);
    }

    private CompletionStage<Long> afterAsked(Readmit asked) {
      return switch (asked.status()) {
        case VOTING, FOREIGN -> CompletableFuture.completedFuture(lookMillis);
        case OTHER_RUN -> CompletableFuture.completedFuture(RETRY_MILLIS);
        case WAITING -> CompletableFuture.completedFuture(asked.waitMillis());
        case READY -> repair(asked.runId());
      };
    }

    private CompletionStage<Long> repair(String run) {
      Collection collection = new Collection(server);
      return collection
          .start()
          .thenCompose(counters -> group.readmit(server, arguments("REPAIR", run, counters)))
          .thenApply(
              repaired -> repaired.status() == ReadmitStatus.VOTING ? lookMillis : RETRY_MILLIS);
    }
  }

  static byte[][] arguments(String what, String run, Map<String, Long> counters) {
    List<byte[]> all = new ArrayList<>();
    all.add(RedlockGroup.ascii(what));
    all.add(RedlockGroup.ascii(run));
    counters.forEach(
        (bucket, token) -> {
          all.add(RedlockGroup.ascii(bucket));
          all.add(RedlockGroup.ascii(Long.toString(token)));
        });
    return all.toArray(new byte[0][]);
  }

  /** The greatest counters of a majority of servers that vote. */
  private final class Collection {
    private final RedlockServer without;
    private final CompletableFuture<Map<String, Long>> result = new CompletableFuture<>();
    private final Map<String, Long> greatest = new TreeMap<>();
    private final Turns turns = new Turns();
    private int answers;
    private int voting;

    Collection(RedlockServer without) {
      this.without = without;
    }

    CompletionStage<Map<String, Long>> start() {
      List<RedlockServer> others = new ArrayList<>(group.servers());
      others.remove(without);
      Round<Counters> round =
          new Round<>(
              turns,
              group.environment(),
              others,
              group.size(),
              group.timeoutNanos(),
              server ->
                  server.fault() == null
                      ? group.counters(server)
                      : CompletableFuture.failedFuture(new IllegalStateException("unfit")),
              (server, counters, error) -> {
                answers++;
                if (counters != null && counters.standing() == Standing.VOTING) {
                  voting++;
                  merge(greatest, counters.all());
                }
                if (voting >= group.majority()) {
                  result.complete(Map.copyOf(greatest));
                } else if (answers == others.size()) {
                  result.completeExceptionally(
                      new IllegalStateException("only " + voting + " servers vote"));
                }
              });
      CompletionStage<Map<String, Long>> done = result;
      done.whenComplete((counters, error) -> turns.execute(round::end));
      turns.execute(round::start);
      return result;
    }
  }

  static void merge(Map<String, Long> greatest, List<Counter> counters) {
    for (Counter each : counters) {
      greatest.merge(each.bucket(), each.token(), Math::max);
    }
  }
}
