/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.util.Objects.requireNonNull;

import dev.paddock.StoreException;
import dev.paddock.redis.RedlockReplies.Commit;
import dev.paddock.redis.RedlockReplies.CommitStatus;
import dev.paddock.redis.RedlockReplies.Vote;
import dev.paddock.redis.RedlockReplies.VoteStatus;
import dev.paddock.spi.LeaseReply;
import dev.paddock.spi.LeaseRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One attempt to acquire a lease by a majority of the servers. */
final class RedlockAcquire {
  /*
   *   VOTING ----------------------------------------> GRANTED    a majority votes, all with one token
   *     | a majority votes, with different tokens         ^
   *     v                                                 | a majority says OK
   *   COMMITTING(T = the greatest token) ----------------/
   *     |   ^ some are behind: again with the greatest that they name
   *     |   |
   *     v---/            no majority any more, in either state
   *   REFUSED / FAILED   released on every server that may hold it
   *
   * Tokens. Take two attempts A and B that were granted, and a server n that is in the majorities of
   * both (of votes, if one round was enough, else of OKs). On n a lease has one owner at a time, so one
   * of them, say A, had its vote or OK there first, and B's vote came after A's lease there had gone.
   * By then n's counter was A's token or more, so B's vote on n was greater; and B's token is no less
   * than that vote: it is the same, or it was committed, which n refuses below its own vote (BEHIND).
   * So tokens differ, and if A had returned before B began, A's is the smaller one: n can't have had B
   * first. That takes no clock, but that n remembers its counter, which is what E is about: a vote or
   * an OK of a server that does not remember is AMNESIA.
   *
   * BEHIND can only come from a server whose vote was not in when T was chosen: T is the greatest of
   * those that were. COMMIT goes to such servers too, behind their ACQUIRE on the same connection, but
   * nobody waits for them: a slow server costs an attempt its time-out once, as long as it may still
   * decide the vote.
   *
   * Validity is counted by the engine, from before the first request.
   */
  private static final int SPLIT_PAUSE_MILLIS_MIN = 5;
  private static final int SPLIT_PAUSE_MILLIS = 30;

  private final RedlockGroup group;
  private final RedlockKeeper keeper;
  private final RedlockLeftovers leftovers;
  private final LeaseRequest request;
  private final byte[][] keys;
  private final byte[] bucket;
  private final String shown;
  private final long startNanos;
  private final Turns turns = new Turns();
  private final CompletableFuture<LeaseReply> result = new CompletableFuture<>();

  private final @Nullable Vote[] votes;
  private final @Nullable StoreException[] failures;
  private final boolean[] answered;
  private final @Nullable Commit[] commits;
  private final boolean[] commitAnswered;
  private final @Nullable StoreException[] commitFailures;
  private @Nullable Round<Vote> voting;
  private @Nullable Round<Commit> committing;
  private long commitDeadlineNanos;
  private long committed;
  private boolean over;
  private boolean granted;

  private RedlockAcquire(
      RedlockGroup group, RedlockKeeper keeper, RedlockLeftovers leftovers, LeaseRequest request) {
    this.group = group;
    this.keeper = keeper;
    this.leftovers = leftovers;
    this.request = request;
    this.keys = RedlockKeys.of(request.name());
    this.bucket = RedlockKeys.bucket(request.name());
    this.shown = "the lease " + request.name();
    this.startNanos = group.environment().nanoTime();
    this.votes = new Vote[group.size()];
    this.failures = new StoreException[group.size()];
    this.answered = new boolean[group.size()];
    this.commits = new Commit[group.size()];
    this.commitAnswered = new boolean[group.size()];
    this.commitFailures = new StoreException[group.size()];
  }

  static CompletionStage<LeaseReply> start(
      RedlockGroup group, RedlockKeeper keeper, RedlockLeftovers leftovers, LeaseRequest request) {
    RedlockAcquire attempt = new RedlockAcquire(group, keeper, leftovers, request);
    attempt.turns.execute(attempt::vote);
    return attempt.result;
  }

  // ---- the votes

  private void vote() {
    Round<Vote> round =
        new Round<>(
            turns,
            group.environment(),
            group.servers(),
            group.size(),
            group.timeoutNanos(),
            this::ask,
            new Round.Taker<>() {
              @Override
              public void answered(
                  RedlockServer server, @Nullable Vote vote, @Nullable StoreException error) {
                onVote(server, vote, error);
              }

              @Override
              public void late(RedlockServer server, Vote vote) {
                onLateVote(server, vote);
              }
            });
    voting = round;
    round.start();
  }

  private CompletionStage<Vote> ask(RedlockServer server) {
    CompletableFuture<Vote> vote = new CompletableFuture<>();
    // What comes later than the server's own time-out is not counted, so it need not be voted.
    long validForMillis =
        Math.min(
            request.validForMillis(),
            Math.max(1, TimeUnit.NANOSECONDS.toMillis(group.timeoutNanos())));
    ask(server, validForMillis, true, vote);
    return vote;
  }

  private void ask(
      RedlockServer server, long validForMillis, boolean again, CompletableFuture<Vote> result) {
    byte[][] args = {
      RedlockGroup.ascii(request.owner()),
      ScriptArguments.plain(request.leaseMillis()),
      ScriptArguments.millis(
          server.nowMillis(keys[0]) + Math.min(validForMillis, ScriptArguments.MILLIS_MAX)),
      RedlockGroup.ascii(request.waiting().name()),
      bucket,
      group.fingerprint()
    };
    server
        .vote(
            RedlockScript.REDLOCK_ACQUIRE.text(),
            "ACQUIRE",
            shown,
            keys,
            args,
            RedlockReplies::vote)
        .whenComplete(
            (vote, error) -> {
              long left =
                  validForMillis
                      - TimeUnit.NANOSECONDS.toMillis(group.environment().nanoTime() - startNanos);
              if (error != null) {
                result.completeExceptionally(error);
              } else if (vote.status() == VoteStatus.TOO_LATE && again && left > 0) {
                // The estimate of the server's clock may have been wrong; the answer has mended it.
                ask(server, left, false, result);
              } else {
                result.complete(vote);
              }
            });
  }

  private void onVote(RedlockServer server, @Nullable Vote vote, @Nullable StoreException error) {
    int index = server.index();
    answered[index] = true;
    votes[index] = vote;
    failures[index] = error;
    if (vote != null && vote.status() == VoteStatus.AMNESIA) {
      keeper.noticed(server);
    }
    decide();
  }

  private void onLateVote(RedlockServer server, Vote vote) {
    if (vote.status() != VoteStatus.GRANTED || granted) {
      return;
    }
    if (over) {
      leftovers.release(List.of(server), request.name(), request.owner(), request.leaseMillis());
      return;
    }
    votes[server.index()] = vote;
    decide();
  }

  private boolean isGranted(int index) {
    Vote vote = votes[index];
    return vote != null && vote.status() == VoteStatus.GRANTED;
  }

  private boolean isHeld(int index) {
    Vote vote = votes[index];
    return vote != null && vote.status() == VoteStatus.HELD;
  }

  private void decide() {
    if (over) {
      return;
    }
    if (committing != null) {
      decideCommit();
      return;
    }
    int grants = 0;
    int held = 0;
    int open = 0;
    long greatest = 0;
    for (int i = 0; i < group.size(); i++) {
      Vote vote = votes[i];
      if (isGranted(i)) {
        grants++;
        greatest = Math.max(greatest, requireNonNull(vote).token());
      } else if (isHeld(i)) {
        held++;
      } else if (!answered[i]) {
        open++;
      }
    }
    if (grants >= group.majority()) {
      int same = 0;
      for (int i = 0; i < group.size(); i++) {
        same += isGranted(i) && requireNonNull(votes[i]).token() == greatest ? 1 : 0;
      }
      if (same >= group.majority()) {
        grant(greatest);
      } else {
        commitDeadlineNanos = group.environment().nanoTime() + group.timeoutNanos();
        commit(greatest);
      }
    } else if (grants + open < group.majority()) {
      if (grants + held >= group.majority()) {
        refuse();
      } else if (grants + held + open < group.majority()) {
        fail("too few servers voted");
      }
    }
  }

  // ---- the commit

  private void commit(long token) {
    Arrays.fill(commits, null);
    Arrays.fill(commitAnswered, false);
    List<RedlockServer> asked = new ArrayList<>();
    for (RedlockServer server : group.servers()) {
      if (isGranted(server.index()) || !answered[server.index()]) {
        asked.add(server);
      } else {
        commitAnswered[server.index()] = true;
      }
    }
    byte[][] args = {
      RedlockGroup.ascii(request.owner()),
      RedlockGroup.ascii(Long.toString(token)),
      bucket,
      group.fingerprint()
    };
    if (committing != null) {
      committing.end();
    }
    Round<Commit> round =
        new Round<>(
            turns,
            group.environment(),
            asked,
            group.size(),
            commitDeadlineNanos - group.environment().nanoTime(),
            server ->
                server.vote(
                    RedlockScript.REDLOCK_COMMIT.text(),
                    "COMMIT",
                    shown,
                    keys,
                    args,
                    RedlockReplies::commit),
            (server, commit, error) -> {
              commitAnswered[server.index()] = true;
              commits[server.index()] = commit;
              commitFailures[server.index()] = error;
              if (commit != null && commit.status() == CommitStatus.AMNESIA) {
                keeper.noticed(server);
              }
              decide();
            });
    committing = round;
    committed = token;
    round.start();
  }

  private void decideCommit() {
    int ok = 0;
    int behind = 0;
    int lost = 0;
    int awaited = 0;
    long greatest = committed;
    for (int i = 0; i < group.size(); i++) {
      Commit commit = commits[i];
      if (commit == null) {
        // Those that have not even voted yet are not waited for.
        awaited += isGranted(i) && !commitAnswered[i] ? 1 : 0;
        continue;
      }
      switch (commit.status()) {
        case OK -> ok++;
        case BEHIND -> {
          behind++;
          greatest = Math.max(greatest, commit.token());
        }
        case LOST -> lost++;
        case AMNESIA, FOREIGN -> {}
      }
    }
    if (ok >= group.majority()) {
      grant(committed);
    } else if (ok + awaited < group.majority()) {
      if (behind > 0
          && ok + awaited + behind >= group.majority()
          && commitDeadlineNanos - group.environment().nanoTime() > 0) {
        commit(greatest);
      } else if (ok + behind + lost >= group.majority()) {
        refuse();
      } else {
        fail("too few servers committed the token " + committed);
      }
    }
  }

  // ---- the end

  private void end() {
    over = true;
    if (voting != null) {
      voting.end();
    }
    if (committing != null) {
      committing.end();
    }
  }

  private void grant(long token) {
    granted = true;
    end();
    result.complete(
        new LeaseReply(
            LeaseReply.Status.GRANTED, token, RedisLeaseStore.validMillis(request.leaseMillis())));
  }

  private void refuse() {
    long left = leftMillis();
    giveBack();
    result.complete(new LeaseReply(LeaseReply.Status.HELD, 0, left));
  }

  /**
   * How long the holder keeps a majority busy unless it extends. If none of those that were met has
   * a majority, all give back what they have; a random pause keeps them from meeting again.
   */
  private long leftMillis() {
    Map<String, Integer> owners = new HashMap<>();
    List<Long> ends = new ArrayList<>();
    int most = 0;
    int free = 0;
    for (int i = 0; i < group.size(); i++) {
      Vote vote = votes[i];
      if (vote != null && isHeld(i)) {
        most = Math.max(most, owners.merge(vote.owner(), 1, Integer::sum));
        ends.add(vote.leftMillis());
      } else if (isGranted(i)) {
        free++;
      }
    }
    int needed = group.majority() - free;
    if (most < group.majority() || needed < 1 || needed > ends.size()) {
      return SPLIT_PAUSE_MILLIS_MIN + (long) (SPLIT_PAUSE_MILLIS * group.randomUnit());
    }
    ends.sort(null);
    return ends.get(needed - 1);
  }

  private void fail(String why) {
    boolean mayHold = giveBack();
    List<String> each = new ArrayList<>();
    int forgetful = 0;
    for (RedlockServer server : group.servers()) {
      int i = server.index();
      Vote vote = votes[i];
      Commit commit = commits[i];
      StoreException failure = commitFailures[i] == null ? failures[i] : commitFailures[i];
      boolean amnesia =
          (vote != null && vote.status() == VoteStatus.AMNESIA)
              || (commit != null && commit.status() == CommitStatus.AMNESIA);
      forgetful += amnesia ? 1 : 0;
      each.add(
          server
              + ": "
              + (amnesia
                  ? "may not vote, it has lost its memory or never had one"
                  : failure != null
                      ? failure.getMessage()
                      : commit != null
                          ? commit.status().toString()
                          : vote != null ? vote.status().toString() : "not waited for"));
    }
    result.completeExceptionally(
        new StoreException(
            "ACQUIRE of "
                + shown
                + ": "
                + why
                + ", "
                + group.majority()
                + " of "
                + group.size()
                + " are needed: "
                + String.join("; ", each)
                + (forgetful > group.size() - group.majority()
                    ? ". That many do not come back by themselves: if this is the first start of"
                        + " these servers, or too many of them were restarted at once, bootstrap"
                        + " the group (LettuceRedis.redlock(...).bootstrap(...))"
                    : ""),
            null,
            mayHold));
  }

  /** Releases wherever it may be held; false if that is nowhere. */
  private boolean giveBack() {
    end();
    List<RedlockServer> mayHold = new ArrayList<>();
    for (RedlockServer server : group.servers()) {
      Vote vote = votes[server.index()];
      StoreException failure = failures[server.index()];
      // A script that answered anything else has not made it the owner's.
      boolean not =
          vote != null
              ? vote.status() != VoteStatus.GRANTED
              : failure != null && !failure.mayHaveHappened();
      if (!not) {
        mayHold.add(server);
      }
    }
    leftovers.release(mayHold, request.name(), request.owner(), request.leaseMillis());
    return !mayHold.isEmpty();
  }
}
