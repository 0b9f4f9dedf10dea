/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import dev.paddock.redis.RedlockReplies.Status;
import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Meets the servers of a group. Waits for all of them, but for those that are slow or gone no
 * longer than a command time-out once a majority has been met.
 */
final class RedlockOpening implements Round.Taker<Status> {
  private final RedlockGroup group;
  private final Duration timeout;
  private final boolean strict;
  private final boolean patient;
  private final Turns turns = new Turns();
  private final CompletableFuture<List<RedlockServer>> result = new CompletableFuture<>();
  private final List<RedlockServer> met = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private Environment.@Nullable Timer enough;
  private boolean enoughTime;
  private int answers;

  RedlockOpening(RedlockGroup group, Duration timeout) {
    this(group, timeout, true, false);
  }

  /**
   * Prepares.
   *
   * @param strict whether a member of another group is refused
   * @param patient whether all servers are waited for until the end of the time-out
   */
  RedlockOpening(RedlockGroup group, Duration timeout, boolean strict, boolean patient) {
    this.group = group;
    this.timeout = timeout;
    this.strict = strict;
    this.patient = patient;
  }

  /** Returns the servers that answered, a majority at least; closes the group if that fails. */
  CompletionStage<List<RedlockServer>> start() {
    Round<Status> round =
        new Round<>(
            turns,
            group.environment(),
            group.servers(),
            group.size(),
            timeout.toNanos(),
            group::meet,
            this);
    turns.execute(
        () -> {
          enough =
              group.schedule(
                  () ->
                      turns.execute(
                          () -> {
                            enoughTime = true;
                            decide();
                          }),
                  patient ? timeout.toNanos() : Math.min(timeout.toNanos(), group.timeoutNanos()));
          round.start();
        });
    CompletionStage<List<RedlockServer>> done = result;
    done.whenComplete(
        (servers, error) -> {
          turns.execute(
              () -> {
                round.end();
                if (enough != null) {
                  enough.cancel();
                }
              });
          if (error != null) {
            group.close();
          }
        });
    return result;
  }

  @Override
  public void answered(
      RedlockServer server, @Nullable Status status, @Nullable StoreException error) {
    answers++;
    if (status != null) {
      met.add(server);
    } else {
      failures.add(server + ": " + (error == null ? "no answer" : error.getMessage()));
    }
    decide();
  }

  private void decide() {
    for (RedlockServer server : met) {
      String fault = server.fault();
      if (fault != null && (strict || !server.isForeign())) {
        result.completeExceptionally(
            new StoreException("Redlock can't be opened: " + fault, null, false));
        return;
      }
    }
    if (met.size() == group.size() || (met.size() >= group.majority() && enoughTime)) {
      result.complete(List.copyOf(met));
    } else if (answers == group.size()) {
      if (met.size() >= group.majority()) {
        result.complete(List.copyOf(met));
      } else {
        result.completeExceptionally(
            new StoreException(
                "Redlock can't be opened: only "
                    + met.size()
                    + " of "
                    + group.size()
                    + " servers answered, "
                    + group.majority()
                    + " are needed; "
                    + String.join("; ", failures),
                null,
                false));
      }
    }
  }
}
