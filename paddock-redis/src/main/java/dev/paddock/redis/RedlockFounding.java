/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import dev.paddock.redis.RedlockReplies.Counters;
import dev.paddock.redis.RedlockReplies.Readmit;
import dev.paddock.redis.RedlockReplies.ReadmitStatus;
import dev.paddock.redis.RedlockReplies.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Bootstraps a group: lets servers vote that have nobody to learn from. */
final class RedlockFounding {
  /*
   * MEMORY_LOST: each server that answers is asked, again and again, until all leases are over that
   * it may have forgotten. Then the counters of all are collected, and each is raised to the greatest
   * of them and of the servers' clocks in microseconds: tokens began at such a clock, and grow more
   * slowly than it. NEW_SERVERS is the same without waiting, for all servers and only if none of them
   * has a counter.
   *
   * When a majority votes, there is nothing to do: those readmit the others.
   */
  private static final long ASK_AGAIN_MILLIS_MAX = 5_000;

  private final RedlockGroup group;
  private final RedlockBootstrap occasion;
  private final Duration timeout;
  private final CompletableFuture<Integer> result = new CompletableFuture<>();

  RedlockFounding(RedlockGroup group, RedlockBootstrap occasion, Duration timeout) {
    this.group = group;
    this.occasion = occasion;
    this.timeout = timeout;
  }

  CompletionStage<Integer> start() {
    boolean strict = occasion == RedlockBootstrap.NEW_SERVERS;
    step(
        new RedlockOpening(group, timeout, strict, true).start(),
        servers -> collect(servers, this::judge));
    return result;
  }

  private <T> void step(CompletionStage<T> stage, Consumer<T> then) {
    stage.whenComplete(
        (value, error) -> {
          try {
            if (error != null) {
              result.completeExceptionally(Failures.unwrap(error));
            } else {
              then.accept(value);
            }
          } catch (RuntimeException e) {
            result.completeExceptionally(e);
          }
        });
  }

  /** Asks several servers; those that do not answer are not in the result. */
  private <T> CompletionStage<Map<RedlockServer, T>> ask(
      List<RedlockServer> servers, Function<RedlockServer, CompletionStage<T>> question) {
    CompletableFuture<Map<RedlockServer, T>> all = new CompletableFuture<>();
    // In the order of the servers, so that the same replies are followed by the same commands.
    Map<RedlockServer, T> replies = new TreeMap<>(Comparator.comparingInt(RedlockServer::index));
    int[] answers = new int[1];
    Turns turns = new Turns();
    Round<T> round =
        new Round<>(
            turns,
            group.environment(),
            servers,
            group.size(),
            group.timeoutNanos(),
            question,
            (server, reply, error) -> {
              if (reply != null) {
                replies.put(server, reply);
              }
              if (++answers[0] == servers.size()) {
                all.complete(replies);
              }
            });
    CompletionStage<Map<RedlockServer, T>> done = all;
    done.whenComplete((map, error) -> turns.execute(round::end));
    turns.execute(round::start);
    return all;
  }

  private void collect(List<RedlockServer> servers, Consumer<Map<RedlockServer, Counters>> then) {
    step(
        ask(servers, group::counters),
        all -> {
          if (all.size() < group.majority()) {
            throw failure("only " + all.size() + " of " + group.size() + " servers answered");
          }
          then.accept(all);
        });
  }

  private static StoreException failure(String why) {
    return new StoreException(
        "the group can't be bootstrapped: " + why + "; nothing is voted until it is", null, true);
  }

  private void judge(Map<RedlockServer, Counters> all) {
    long voting = count(all, Standing.VOTING);
    if (voting >= group.majority()) {
      result.complete((int) voting);
      return;
    }
    List<RedlockServer> servers = List.copyOf(all.keySet());
    if (occasion == RedlockBootstrap.MEMORY_LOST) {
      waitForLeases(servers);
      return;
    }
    if (all.size() < group.size()) {
      throw failure(
          "of new servers all have to answer, but " + all.size() + " of " + group.size() + " did");
    }
    all.forEach(
        (server, counters) -> {
          if (counters.standing() != Standing.AMNESIA || !counters.all().isEmpty()) {
            throw failure(
                server
                    + " is not new, it has granted leases: use MEMORY_LOST, which waits for them");
          }
        });
    found(servers, all, "NEW");
  }

  private static long count(Map<RedlockServer, Counters> all, Standing standing) {
    return all.values().stream().filter(each -> each.standing() == standing).count();
  }

  private void waitForLeases(List<RedlockServer> servers) {
    step(
        ask(servers, server -> group.readmit(server, RedlockGroup.ascii("FOUND_ASK"), new byte[0])),
        asked -> {
          if (asked.size() < group.majority()) {
            throw failure("only " + asked.size() + " of " + group.size() + " servers answered");
          }
          long wait = 0;
          for (Readmit each : asked.values()) {
            wait =
                Math.max(
                    wait,
                    each.status() == ReadmitStatus.WAITING
                        ? each.waitMillis()
                        : each.status() == ReadmitStatus.OTHER_RUN ? 1 : 0);
          }
          List<RedlockServer> left = List.copyOf(asked.keySet());
          if (wait > 0) {
            schedule(() -> waitForLeases(left), Math.min(wait + 1, ASK_AGAIN_MILLIS_MAX));
          } else {
            collect(left, all -> found(left, all, "FOUND"));
          }
        });
  }

  private void schedule(Runnable task, long millis) {
    if (group.schedule(task, TimeUnit.MILLISECONDS.toNanos(millis)) == null) {
      throw failure("the environment was closed meanwhile");
    }
  }

  private void found(List<RedlockServer> servers, Map<RedlockServer, Counters> all, String what) {
    Map<String, Long> counters = new TreeMap<>();
    long latest = 0;
    for (Counters each : all.values()) {
      latest = Math.max(latest, each.nowMillis());
      RedlockKeeper.merge(counters, each.all());
    }
    for (int bucket = 0; bucket < RedlockKeys.BUCKETS; bucket++) {
      counters.merge(Integer.toString(bucket), (latest + 1) * 1000, Math::max);
    }
    step(
        ask(
            servers,
            server -> {
              Counters own = all.get(server);
              return group.readmit(
                  server, RedlockKeeper.arguments(what, own == null ? "" : own.runId(), counters));
            }),
        founded -> {
          List<String> others = new ArrayList<>();
          int voting = 0;
          for (RedlockServer server : group.servers()) {
            @Nullable Readmit answer = founded.get(server);
            if (answer != null && answer.status() == ReadmitStatus.VOTING) {
              voting++;
            } else {
              others.add(server + ": " + (answer == null ? "no answer" : answer.status()));
            }
          }
          if (voting < group.majority()) {
            throw failure(String.join("; ", others));
          }
          result.complete(voting);
        });
  }
}
