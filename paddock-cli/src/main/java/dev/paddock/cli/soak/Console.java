/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static java.util.Objects.requireNonNull;

import dev.paddock.StoreException;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The soak's own commands to a server that is under faults. */
final class Console {
  private static final int TRIES = 5;

  private Console() {}

  /**
   * Runs a command that may be executed twice. A Sentinel that gives a server another role cuts all
   * its connections, this one too.
   *
   * @throws StoreException if the server does not answer, on one new connection after the other
   */
  static @Nullable Object command(RedisServerProcess server, Object... words) {
    return retry(server, console -> console.command(words));
  }

  /** As {@link #command}, of a reply that is text. */
  static String text(RedisServerProcess server, Object... words) {
    return requireNonNull(retry(server, console -> console.text(words)));
  }

  private static <T> @Nullable T retry(
      RedisServerProcess server, Function<RedisCommands, @Nullable T> command) {
    StoreException last = null;
    for (int i = 0; i < TRIES; i++) {
      try {
        return command.apply(server.console());
      } catch (StoreException e) {
        last = e;
      }
    }
    throw new StoreException("no answer on " + TRIES + " connections", last, true);
  }
}
