/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Releases, in the background, what may be left of a lease on servers that did not answer: again
 * until they answer, or until it has run out there by itself.
 */
final class RedlockLeftovers {
  private static final int PENDING_MAX = 256;
  private static final long PAUSE_MILLIS = 50;
  private static final long PAUSE_MILLIS_MAX = 1_000;

  private final RedlockGroup group;
  // Until when. One chain of releases each, however often the engine asks for the same.
  private final ConcurrentHashMap<Leftover, Long> pending = new ConcurrentHashMap<>();

  private record Leftover(RedlockServer server, String name, String owner) {}

  RedlockLeftovers(RedlockGroup group) {
    this.group = group;
  }

  /**
   * Releases on some servers, the first time at once; where that is under way already, it goes on
   * for as long as is asked.
   *
   * @param forMillis how long something may be left
   */
  void release(Collection<RedlockServer> servers, String name, String owner, long forMillis) {
    long untilNanos = group.environment().nanoTime() + TimeUnit.MILLISECONDS.toNanos(forMillis);
    for (RedlockServer server : servers) {
      Leftover leftover = new Leftover(server, name, owner);
      Long before =
          pending.computeIfPresent(
              leftover, (same, until) -> until - untilNanos > 0 ? until : untilNanos);
      if (before == null) {
        if (pending.size() >= PENDING_MAX) {
          // It runs out by itself. So many mean a server that is gone, or a store under a storm.
          RedlockRelease.send(server, name, owner);
        } else {
          pending.put(leftover, untilNanos);
          release(leftover, 0);
        }
      }
    }
  }

  private void release(Leftover leftover, long pauseMillis) {
    group
        .within(
            group.timeoutNanos(),
            leftover.server,
            RedlockRelease.send(leftover.server, leftover.name, leftover.owner))
        .whenComplete(
            (released, error) -> {
              Long untilNanos = pending.get(leftover);
              if (error == null
                  || group.isClosed()
                  || untilNanos == null
                  || untilNanos - group.environment().nanoTime() <= 0) {
                pending.remove(leftover);
                return;
              }
              long base = Math.max(PAUSE_MILLIS, pauseMillis);
              long next = Math.min(PAUSE_MILLIS_MAX, base + (long) (base * group.randomUnit()));
              if (group.schedule(() -> release(leftover, next), TimeUnit.MILLISECONDS.toNanos(next))
                  == null) {
                pending.remove(leftover);
              }
            });
  }
}
