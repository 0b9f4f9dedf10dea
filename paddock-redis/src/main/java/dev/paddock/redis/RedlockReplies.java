/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.redis.Replies.Undecodable;
import java.util.ArrayList;
import java.util.List;

/** Decodes what the scripts of Redlock answer. */
final class RedlockReplies {
  private RedlockReplies() {}

  /** Whether a server votes. */
  enum Standing {
    VOTING,
    AMNESIA,
    FOREIGN
  }

  enum VoteStatus {
    GRANTED,
    HELD,
    TOO_LATE,
    AMNESIA,
    FOREIGN
  }

  /** A server's vote; token if granted, what is left and of whom if held. */
  record Vote(VoteStatus status, long token, long leftMillis, String owner) {}

  static Vote vote(List<byte[]> reply) throws Undecodable {
    LeaseReplies.length(reply, 5);
    VoteStatus status = LeaseReplies.status(reply, VoteStatus.class);
    long token = LeaseReplies.token(reply, 2);
    if ((status == VoteStatus.GRANTED) != (token > 0)) {
      throw new Undecodable("its token does not fit its status");
    }
    return new Vote(status, token, LeaseReplies.decimal(reply, 3, 16), text(reply, 4));
  }

  enum CommitStatus {
    OK,
    LOST,
    BEHIND,
    AMNESIA,
    FOREIGN
  }

  /** What became of a commit; the token is the lease's there if OK or behind. */
  record Commit(CommitStatus status, long token) {}

  static Commit commit(List<byte[]> reply) throws Undecodable {
    LeaseReplies.length(reply, 3);
    return new Commit(LeaseReplies.status(reply, CommitStatus.class), LeaseReplies.token(reply, 2));
  }

  /** What a server knows of a lease, and whether it votes. */
  record Inspection(LeaseReplies.Inspection lease, Standing standing) {}

  static Inspection inspection(List<byte[]> reply) throws Undecodable {
    LeaseReplies.length(reply, 6);
    return new Inspection(
        LeaseReplies.inspection(reply.subList(0, 5)),
        LeaseReplies.status(reply.subList(5, 6), Standing.class));
  }

  /** What has to be known before a server's votes count; empty where it does not say. */
  record Status(Standing standing, String runId, String mode, String evictionPolicy) {}

  static Status status(List<byte[]> reply) throws Undecodable {
    LeaseReplies.length(reply, 5);
    return new Status(
        LeaseReplies.status(reply, Standing.class), text(reply, 2), text(reply, 3), text(reply, 4));
  }

  /** A bucket's counter. */
  record Counter(String bucket, long token) {}

  /** All counters of a server. */
  record Counters(Standing standing, long nowMillis, String runId, List<Counter> all) {}

  static Counters counters(List<byte[]> reply) throws Undecodable {
    if (reply.size() % 2 == 0) {
      throw new Undecodable("a bucket is without its counter");
    }
    List<Counter> all = new ArrayList<>();
    for (int i = 3; i < reply.size(); i += 2) {
      String digits = text(reply, i + 1);
      // What is no counter counts as none in the scripts as well.
      if (isToken(digits)) {
        all.add(new Counter(text(reply, i), Long.parseLong(digits)));
      }
    }
    return new Counters(
        LeaseReplies.status(reply, Standing.class),
        LeaseReplies.nowMillis(reply),
        text(reply, 2),
        all);
  }

  /** Up to 19 digits, and a long. */
  private static boolean isToken(String digits) {
    if (digits.isEmpty()
        || digits.length() > 19
        || (digits.length() == 19 && digits.charAt(0) == '9')) {
      return false;
    }
    for (int i = 0; i < digits.length(); i++) {
      if (digits.charAt(i) < '0' || digits.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  enum ReadmitStatus {
    VOTING,
    WAITING,
    READY,
    OTHER_RUN,
    FOREIGN
  }

  /** How far a server's readmission is. */
  record Readmit(ReadmitStatus status, String runId, long waitMillis) {}

  static Readmit readmit(List<byte[]> reply) throws Undecodable {
    LeaseReplies.length(reply, 4);
    return new Readmit(
        LeaseReplies.status(reply, ReadmitStatus.class),
        text(reply, 2),
        LeaseReplies.decimal(reply, 3, 16));
  }

  private static String text(List<byte[]> reply, int index) {
    return new String(reply.get(index), ISO_8859_1);
  }
}
