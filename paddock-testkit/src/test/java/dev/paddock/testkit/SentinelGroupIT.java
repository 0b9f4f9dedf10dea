/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class SentinelGroupIT {
  private static boolean alive(long pid) {
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  @Test
  void primaryWithReplicas_writeOfThePrimary_isOnTheReplicas() {
    List<Long> pids;
    try (PrimaryWithReplicas all = PrimaryWithReplicas.start(2)) {
      all.primary().console().command("SET", "k", "v");
      all.awaitSync();
      assertThat(all.replicas()).hasSize(2);
      for (RedisServerProcess replica : all.replicas()) {
        assertThat(replica.console().text("GET", "k")).isEqualTo("v");
      }
      pids = List.of(all.primary().pid(), all.replicas().get(0).pid(), all.replicas().get(1).pid());
      assertThat(pids).allMatch(SentinelGroupIT::alive);
    }
    assertThat(pids).noneMatch(SentinelGroupIT::alive);
  }

  @Test
  void primaryWithReplicas_noReplica_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PrimaryWithReplicas.start(0))
        .withMessageContaining("is 0");
  }

  @Test
  void failoverAndKill_replaceThePrimary_andTheOldOneComesBackAsAReplica() {
    try (SentinelGroup group = SentinelGroup.start()) {
      RedisServerProcess first = group.primary();
      assertThat(group.servers()).contains(first);
      first.console().command("SET", "k", "v");
      group.awaitSync();

      assertThat(group.failover()).isSameAs(first);
      RedisServerProcess second = group.awaitNewPrimary(first);
      assertThat(second).isNotSameAs(first);
      group.awaitSync();
      assertThat(second.console().text("GET", "k")).isEqualTo("v");
      assertThat(second.console().text("SET", "k", "w")).isEqualTo("OK");
      group.awaitSync();

      assertThat(group.killPrimary()).isSameAs(second);
      RedisServerProcess third = group.awaitNewPrimary(second);
      assertThat(third).isNotSameAs(second);
      assertThat(third.connect().text("GET", "k")).isEqualTo("w");
      second.restart();
      group.awaitSync();
      assertThat(group.primary()).isSameAs(third);
    }
  }

  @Test
  void close_endsServersAndSentinels() {
    SentinelGroup group = SentinelGroup.start();
    List<Long> pids =
        java.util.stream.Stream.concat(group.servers().stream(), group.sentinels().stream())
            .map(RedisServerProcess::pid)
            .toList();
    assertThat(pids).hasSize(6).allMatch(SentinelGroupIT::alive);
    group.close();
    group.close();
    assertThat(pids).noneMatch(SentinelGroupIT::alive);
  }
}
