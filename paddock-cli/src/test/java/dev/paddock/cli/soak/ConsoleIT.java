/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.paddock.StoreException;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import org.junit.jupiter.api.Test;

/** The soak's own connection to a server whose connections are cut. */
final class ConsoleIT {
  @Test
  void command_onAConnectionThatWasCut_isRunOnANewOne() {
    try (RedisServerProcess server = RedisServerProcess.start();
        RedisCommands other = server.connect()) {
      assertThat(Console.text(server, "PING")).isEqualTo("PONG");
      other.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      assertThat(Console.command(server, "SET", "k", "v")).isEqualTo("OK");
      other.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      assertThat(Console.text(server, "GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void command_toAServerThatIsGone_fails() {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      server.kill();
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> Console.command(server, "PING"));
    }
  }
}
