/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** What a server says about its part in a replication. */
record ReplicationInfo(boolean primary, boolean inSync, long offset) {
  private static final Duration LIMIT = Duration.ofMinutes(1);

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

  /** Waits for a minute at most; see {@link Servers#await}. */
  static void awaitUntil(String what, BooleanSupplier condition) {
    Servers.await(LIMIT, what, condition);
  }
}
