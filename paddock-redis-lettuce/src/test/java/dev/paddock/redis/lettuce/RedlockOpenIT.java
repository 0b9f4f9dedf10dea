/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.LeaseInspection.Verdict;
import dev.paddock.LeaseLock;
import dev.paddock.StoreException;
import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.testkit.RedisServerProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a user is told who opens a group that is not as it should be. */
final class RedlockOpenIT {
  private final List<RedisServerProcess> servers = new ArrayList<>();

  @BeforeEach
  void start() {
    for (int i = 0; i < 3; i++) {
      servers.add(RedisServerProcess.start());
    }
  }

  @AfterEach
  void stop() {
    servers.forEach(RedisServerProcess::close);
  }

  private List<String> uris(String credentials) {
    return servers.stream()
        .map(server -> "redis://" + credentials + "127.0.0.1:" + server.port())
        .toList();
  }

  @Test
  void open_wrongPassword_saysSoAndDoesNotShowIt() {
    servers.forEach(
        server -> server.console().command("ACL", "SETUSER", "app", "on", ">right", "+@all", "~*"));
    assertThatThrownBy(
            () ->
                LeaseLock.newBuilder()
                    .store(LettuceRedis.redlock(uris("app:wr0ng@")))
                    .build()
                    .close())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("0 of 3 servers")
        .hasMessageContaining("WRONGPASS")
        .hasMessageNotContaining("wr0ng");
  }

  @Test
  void open_nobodyListens_saysSo() {
    List<String> uris = uris("");
    servers.forEach(RedisServerProcess::kill);
    assertThatThrownBy(
            () -> LeaseLock.newBuilder().store(LettuceRedis.redlock(uris)).build().close())
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("refused");
  }

  @Test
  void inspect_serversThatMayNotVote_doNotSayThatTheLeaseIsFree() {
    LettuceRedlock redlock = LettuceRedis.redlock(uris(""));
    redlock.bootstrap(RedlockBootstrap.NEW_SERVERS);
    try (LeaseLock lock = LeaseLock.newBuilder().store(redlock).build()) {
      assertThat(lock.inspect("job").join().verdict()).isEqualTo(Verdict.FREE);
      servers.get(0).console().command("FLUSHALL");
      servers.get(1).console().command("FLUSHALL");

      assertThat(lock.inspect("job").join().verdict()).isEqualTo(Verdict.UNKNOWN);
    }
  }
}
