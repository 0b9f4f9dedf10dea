/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Releases a lease on all servers. */
final class RedlockRelease implements Round.Taker<Boolean> {
  /*
   * True once a majority has released it: it was this owner's, and is free on a majority. False once
   * a majority says that it is not this owner's: then it can't have been held. Neither, when all have
   * answered or had their time: unknown. Those that did not answer are asked again in the background
   * in any case.
   */
  private final RedlockGroup group;
  private final RedlockLeftovers leftovers;
  private final String name;
  private final String owner;
  private final CompletableFuture<Boolean> result = new CompletableFuture<>();
  private final List<RedlockServer> unanswered = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private @Nullable Round<Boolean> round;
  private int answers;
  private int released;
  private int notOwner;

  private RedlockRelease(
      RedlockGroup group, RedlockLeftovers leftovers, String name, String owner) {
    this.group = group;
    this.leftovers = leftovers;
    this.name = name;
    this.owner = owner;
  }

  static CompletionStage<Boolean> start(
      RedlockGroup group, RedlockLeftovers leftovers, String name, String owner) {
    RedlockRelease release = new RedlockRelease(group, leftovers, name, owner);
    Turns turns = new Turns();
    Round<Boolean> round =
        new Round<>(
            turns,
            group.environment(),
            group.servers(),
            group.size(),
            group.timeoutNanos(),
            server -> send(server, name, owner),
            release);
    release.round = round;
    turns.execute(round::start);
    return release.result;
  }

  /** Releases on one server, whether or not its votes count. */
  static CompletionStage<Boolean> send(RedlockServer server, String name, String owner) {
    byte[][] keys = RedlockKeys.of(name);
    return server.call(
        LeaseScript.LEASE_RELEASE.text(),
        "RELEASE",
        "the lease " + name + " on " + server,
        new byte[][] {keys[0], keys[1]},
        new byte[][] {
          RedlockGroup.ascii(owner), {(byte) (server.transport().shardedChannels() ? 'S' : 'P')}
        },
        LeaseReplies::release);
  }

  @Override
  public void answered(
      RedlockServer server, @Nullable Boolean reply, @Nullable StoreException error) {
    answers++;
    if (reply == null) {
      unanswered.add(server);
      failures.add(server + ": " + (error == null ? "" : error.getMessage()));
    } else if (reply) {
      released++;
    } else {
      notOwner++;
    }
    if (released >= group.majority()) {
      result.complete(true);
    } else if (notOwner >= group.majority()) {
      result.complete(false);
    } else if (answers == group.size()) {
      result.completeExceptionally(
          new StoreException(
              "RELEASE of the lease "
                  + name
                  + ": no majority of the servers answered alike; "
                  + released
                  + " released it, "
                  + notOwner
                  + " did not have it; "
                  + String.join("; ", failures),
              null,
              true));
    }
    if (answers == group.size()) {
      if (round != null) {
        round.end();
      }
      leftovers.release(unanswered, name, owner, group.leaseMillisMax());
    }
  }
}
