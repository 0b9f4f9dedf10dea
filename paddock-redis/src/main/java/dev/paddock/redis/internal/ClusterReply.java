/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import dev.paddock.redis.RedisReplyException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an error reply means for a command on a cluster.
 *
 * @param host where MOVED and ASK send the command; empty if that is the host that answered, or for
 *     other kinds
 * @param port its port; 0 if the reply names none
 */
public record ClusterReply(Kind kind, String host, int port) {
  /** What it means. */
  public enum Kind {
    /** Another node has the slot. */
    MOVED,
    /** Another node has these keys; the slot is on its way there. */
    ASK,
    /** The slot is on its way, and the keys are at both ends of it. */
    LATER,
    /** The slot has no master, or this is no longer it, or not yet in touch with the others. */
    MASTER_CHANGES,
    /** Nothing that has to do with the cluster. */
    OTHER
  }

  private static final Pattern REDIRECT = Pattern.compile("(MOVED|ASK) \\d{1,5} (.*):(\\d{1,5})");

  /** Anywhere, for a script's error carries that of the command that was refused in it. */
  private static final Pattern READ_ONLY =
      Pattern.compile("(?<![A-Za-z0-9_])READONLY(?![A-Za-z0-9_])");

  /** The scripts' mark for an error after which something has been written. */
  private static final Pattern PARTIAL =
      Pattern.compile("(?<![A-Za-z0-9_])PARTIAL(?![A-Za-z0-9_])");

  /**
   * Reads an error reply.
   *
   * @return what it means
   */
  public static ClusterReply of(RedisReplyException error) {
    String text = String.valueOf(error.getMessage());
    Matcher redirect = REDIRECT.matcher(text);
    if (redirect.lookingAt()) {
      int port = Integer.parseInt(redirect.group(3));
      boolean known = port >= 1 && port <= 65535 && !redirect.group(2).equals("?");
      return new ClusterReply(
          Kind.valueOf(redirect.group(1)), known ? redirect.group(2) : "", known ? port : 0);
    }
    return new ClusterReply(kind(text), "", 0);
  }

  private static Kind kind(String text) {
    if (text.startsWith("TRYAGAIN")) {
      return Kind.LATER;
    }
    boolean changes =
        text.startsWith("CLUSTERDOWN")
            || text.startsWith("MASTERDOWN")
            || READ_ONLY.matcher(text).find();
    return changes && !PARTIAL.matcher(text).find() ? Kind.MASTER_CHANGES : Kind.OTHER;
  }
}
