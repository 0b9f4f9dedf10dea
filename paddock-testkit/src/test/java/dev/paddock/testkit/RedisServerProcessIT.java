/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RedisServerProcessIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void start_settings_applyAndCommandsWork() {
    try (RedisServerProcess server = RedisServerProcess.start("--maxclients", "77")) {
      RedisCommands redis = server.console();
      assertThat(server.uri()).isEqualTo("redis://127.0.0.1:" + server.port());
      assertThat((List<?>) redis.command("CONFIG", "GET", "maxclients"))
          .extracting(word -> new String((byte[]) word, UTF_8))
          .containsExactly("maxclients", "77");
      assertThat(redis.text("SET", "k", new byte[] {0, (byte) 0xff, '\r', '\n'})).isEqualTo("OK");
      assertThat(redis.command("GET", "k")).isEqualTo(new byte[] {0, (byte) 0xff, '\r', '\n'});
      assertThat(redis.command("GET", "none")).isNull();
      assertThat(redis.command("EXISTS", "k")).isEqualTo(1L);
      assertThatThrownBy(() -> redis.command("HGET", "k", "f"))
          .isInstanceOf(RedisReplyException.class)
          .hasMessageStartingWith("WRONGTYPE ");
      assertThat(redis.text("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void stopKillRestart_server_goesAndComesBackOnItsPort() {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      server.console().command("SET", "k", "v");
      int port = server.port();
      long pid = server.pid();
      server.kill();
      assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)).isFalse();
      assertThatThrownBy(server::console)
          .isInstanceOfSatisfying(
              StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse());
      server.restart();
      assertThat(server.port()).isEqualTo(port);
      assertThat(server.pid()).isNotEqualTo(pid);
      assertThat(server.console().text("GET", "k")).isEqualTo("nil");
      server.stop();
      server.stop();
      server.restart();
      assertThat(server.console().text("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void pause_server_answersNobodyUntilItIsResumed() throws IOException {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      assertThat(server.console().text("PING")).isEqualTo("PONG");
      server.pause();
      Path state = Path.of("/proc/" + server.pid() + "/stat");
      if (Files.exists(state)) {
        assertThat(Files.readString(state)).contains(") T ");
      }
      try (RedisCommands hurried = RedisCommands.connect(server.port(), Duration.ofSeconds(2))) {
        assertThatThrownBy(() -> hurried.command("PING"))
            .isInstanceOfSatisfying(
                StoreException.class, e -> assertThat(e.mayHaveHappened()).isTrue());
      }
      server.resume();
      assertThat(server.console().text("PING")).isEqualTo("PONG");
      server.pause();
    }
  }

  @Test
  void close_server_leavesNoProcessAndNoFolder() {
    RedisServerProcess server = RedisServerProcess.start();
    long pid = server.pid();
    String folder = folderOf(server);
    assertThat(Path.of(folder)).exists();
    server.close();
    server.close();
    assertThat(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false)).isFalse();
    assertThat(Path.of(folder)).doesNotExist();
    assertThatThrownBy(server::restart).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void start_withPassword_comesUp() {
    try (RedisServerProcess server = RedisServerProcess.start("--requirepass", "secret")) {
      RedisCommands redis = server.console();
      assertThatThrownBy(() -> redis.command("GET", "k")).hasMessageStartingWith("NOAUTH");
      assertThat(redis.text("AUTH", "secret")).isEqualTo("OK");
      assertThat(redis.text("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void start_badSetting_failsWithTheServersLog() {
    assertThatThrownBy(() -> RedisServerProcess.start("--no-such-setting", "1"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no-such-setting");
  }

  @Test
  void counter_clientsAndScripts_areToldApart() {
    try (RedisServerProcess server = RedisServerProcess.start();
        CommandCounter counter = CommandCounter.on(server);
        RedisCommands client = server.connect()) {
      server.console().command("SET", "k", "uncounted");
      client.command("SET", "k", "a \"quoted\" [0 lua] value");
      client.command("get", "k");
      client.command("EVAL", "return redis.call('GET', KEYS[1])", "1", "k");
      assertThat(counter.counts()).isEqualTo(Map.of("SET", 1L, "GET", 1L, "EVAL", 1L));
      assertThat(counter.total()).isEqualTo(3);
      counter.reset();
      assertThat(counter.counts()).isEmpty();
      for (int i = 0; i < 3000; i++) {
        client.command("GET", "k");
      }
      assertThat(counter.counts()).isEqualTo(Map.of("GET", 3000L));
      counter.reset();
      try (CommandCounter without = CommandCounter.on(server, client.clientAddress())) {
        client.command("GET", "k");
        assertThat(without.counts()).doesNotContainKey("GET");
        assertThat(counter.counts()).containsEntry("GET", 1L);
      }
    }
  }

  @Test
  void proxy_delayAndBlackHoles_spoilOneDirectionOnly() {
    try (RedisServerProcess server = RedisServerProcess.start();
        FaultProxy proxy = FaultProxy.to(server.port())) {
      try (RedisCommands client = RedisCommands.connect(proxy.port(), LIMIT)) {
        assertThat(client.text("INCR", "k")).isEqualTo("1");
        proxy.delayUp(Duration.ofMillis(150));
        proxy.delayDown(Duration.ofMillis(150));
        long start = System.nanoTime();
        assertThat(client.text("PING")).isEqualTo("PONG");
        assertThat(Duration.ofNanos(System.nanoTime() - start))
            .isGreaterThanOrEqualTo(Duration.ofMillis(300));
        proxy.heal();
      }
      try (RedisCommands client = RedisCommands.connect(proxy.port(), Duration.ofSeconds(2))) {
        proxy.blackHoleDown(true);
        assertThatThrownBy(() -> client.command("INCR", "k")).isInstanceOf(StoreException.class);
        await().atMost(LIMIT).until(() -> server.console().text("GET", "k").equals("2"));
        proxy.heal();
      }
      try (RedisCommands client = RedisCommands.connect(proxy.port(), Duration.ofSeconds(2))) {
        assertThat(client.text("PING")).isEqualTo("PONG");
        proxy.blackHoleUp(true);
        assertThatThrownBy(() -> client.command("INCR", "k")).isInstanceOf(StoreException.class);
        assertThat(server.console().text("GET", "k")).isEqualTo("2");
      }
    }
  }

  @Test
  void proxy_resetCutRefuse_endConnections() {
    try (RedisServerProcess server = RedisServerProcess.start();
        FaultProxy proxy = FaultProxy.to(server.port())) {
      RedisCommands first = RedisCommands.connect(proxy.port(), LIMIT);
      assertThat(first.text("PING")).isEqualTo("PONG");
      assertThat(proxy.connections()).isEqualTo(1);
      proxy.reset();
      assertThatThrownBy(() -> first.command("PING")).isInstanceOf(StoreException.class);
      assertThat(proxy.connections()).isZero();

      RedisCommands second = RedisCommands.connect(proxy.port(), LIMIT);
      assertThat(second.text("PING")).isEqualTo("PONG");
      proxy.refuse(true);
      assertThat(second.text("PING")).isEqualTo("PONG");
      assertThatThrownBy(
              () -> {
                try (RedisCommands third = RedisCommands.connect(proxy.port(), LIMIT)) {
                  third.command("PING");
                }
              })
          .isInstanceOf(StoreException.class);
      proxy.cut();
      assertThatThrownBy(() -> second.command("PING")).isInstanceOf(StoreException.class);
      proxy.heal();
      try (RedisCommands fourth = RedisCommands.connect(proxy.port(), LIMIT)) {
        assertThat(fourth.text("PING")).isEqualTo("PONG");
      }
    }
  }

  @Test
  void proxy_closed_endsConnectionsAndListensNoMore() {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      FaultProxy proxy = FaultProxy.to(server.port());
      try (RedisCommands client = RedisCommands.connect(proxy.port(), LIMIT)) {
        assertThat(client.text("PING")).isEqualTo("PONG");
        proxy.close();
        assertThatThrownBy(() -> client.command("PING")).isInstanceOf(StoreException.class);
      }
      assertThatThrownBy(() -> RedisCommands.connect(proxy.port(), LIMIT).command("PING"))
          .isInstanceOf(StoreException.class);
    }
  }

  private static String folderOf(RedisServerProcess server) {
    List<?> reply = (List<?>) server.console().command("CONFIG", "GET", "dir");
    if (reply == null) {
      throw new AssertionError("no reply");
    }
    return new String((byte[]) reply.get(1), UTF_8);
  }
}
