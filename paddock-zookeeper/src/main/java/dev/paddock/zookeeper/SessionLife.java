/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import java.util.ArrayDeque;

/** How long one session is known to live, by what it has been answered. Not thread-safe. */
final class SessionLife {
  /*
   * The leader ends a session when it has not heard of it for the session time-out, T. What a client
   * says to a follower, the leader hears with the follower's next report, half a tick later; and a
   * follower that lost its leader goes on to answer reads for several ticks. So that a read was answered
   * proves nothing about when the leader will end the session.
   *
   * A write does: it goes through the leader, on the same channel as the follower's reports, and is
   * refused for a session that is ending. When one sent at b is answered, the leader has heard of
   * everything that was said before b - T/4 (T is at least two ticks, and a client that changed servers
   * meanwhile was made known to the leader by that). If the last such thing was said at a, the session
   * lives until a + T at least.
   *
   * A process that was stopped for most of T said nothing for so long: then there is no recent a, and
   * nothing is promised until it has spoken again for T/4.
   */
  private static final int SAID_MAX = 64;

  private final long timeoutNanos;
  private final ArrayDeque<Long> said = new ArrayDeque<>();
  private long heardNanos;

  /**
   * Makes it.
   *
   * @param timeoutNanos T
   * @param heardNanos when, at the latest, the leader is known to have heard of the session
   */
  SessionLife(long timeoutNanos, long heardNanos) {
    this.timeoutNanos = timeoutNanos;
    this.heardNanos = heardNanos;
  }

  /** Something that was sent then has been answered. */
  void onAnswer(long sentNanos) {
    Long last = said.peekLast();
    // Sparse, so that a few cover all of T.
    if (last == null || sentNanos - last >= timeoutNanos / (SAID_MAX / 2)) {
      said.addLast(sentNanos);
      if (said.size() > SAID_MAX) {
        said.removeFirst();
      }
    }
  }

  /**
   * A write that was sent then has been done.
   *
   * @return until when the session lives at least
   */
  long onWrite(long sentNanos) {
    while (!said.isEmpty() && sentNanos - said.getFirst() >= timeoutNanos / 4) {
      long heard = said.removeFirst();
      if (heard - heardNanos > 0) {
        heardNanos = heard;
      }
    }
    onAnswer(sentNanos);
    return heardNanos + timeoutNanos;
  }
}
