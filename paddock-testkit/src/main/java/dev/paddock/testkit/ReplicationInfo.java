/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What a server says about its part in a replication. */
record ReplicationInfo(boolean primary, boolean inSync, long offset) {
  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_MILLIS = 20;

  static ReplicationInfo of(RedisServerProcess server) {
    // A connection of its own: a server that becomes a replica may close the others.
    try (RedisCommands commands = server.connect()) {
      String info = commands.text("INFO", "replication");
      boolean primary = info.contains("role:master\r\n");
      String offset = value(info, primary ? "master_repl_offset:" : "slave_repl_offset:");
      boolean inSync =
          info.contains("master_link_status:up\r\n")
              && info.contains("master_sync_in_progress:0\r\n");
      return new ReplicationInfo(primary, inSync, offset.isEmpty() ? 0 : Long.parseLong(offset));
    }
  }

  private static String value(String info, String name) {
    return info.lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()))
        .findFirst()
        .orElse("");
  }

  /** Waits for a minute at most; a server that can't be asked now is asked again. */
  static void awaitUntil(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!holds(condition)) {
      if (System.nanoTime() - start > LIMIT_NANOS) {
        throw new IllegalStateException("waited a minute in vain for " + what);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for " + what, e);
      }
    }
  }

  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (StoreException | RedisReplyException e) {
      return false;
    }
  }
}
