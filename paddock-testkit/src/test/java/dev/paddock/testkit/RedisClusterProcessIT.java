/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.RedisClusterProcess.SlotMigration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

final class RedisClusterProcessIT {
  private static final byte[] KEY = "k{1}".getBytes(UTF_8);
  private static final byte[] OTHER = "other{1}".getBytes(UTF_8);

  private static RedisClusterProcess cluster;

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  private static String text(RedisServerProcess node, Object... words) {
    return node.console().text(words);
  }

  @Test
  void start_sixNodes_areThreeMastersWithAReplicaEach() {
    assertThat(cluster.nodes()).hasSize(6).allMatch(RedisServerProcess::isRunning);
    assertThat(cluster.masters()).hasSize(3);
    for (RedisServerProcess master : cluster.masters()) {
      assertThat(text(master, "INFO", "replication")).contains("connected_slaves:1");
    }
    assertThat(cluster.uri()).startsWith("redis://127.0.0.1:").hasSizeGreaterThan(60);
  }

  @Test
  void console_findsTheMasterOfEachKey() {
    for (int i = 0; i < 50; i++) {
      byte[] key = ("console-" + i).getBytes(UTF_8);
      assertThat(cluster.console().text("SET", key, "v", "PX", 60_000)).isEqualTo("OK");
      assertThat(text(cluster.masterOf(key), "GET", key)).isEqualTo("v");
    }
  }

  @Test
  void migration_inStages_showsAskAndTryAgainAndMoved() {
    int slot = RedisClusterProcess.slotOf(KEY);
    RedisServerProcess source = cluster.masterOf(KEY);
    RedisServerProcess target = cluster.otherMaster(slot);
    cluster.console().command("SET", KEY, "v", "PX", 600_000);
    SlotMigration migration = cluster.migrate(slot, target);
    migration.begin();

    assertThat(text(source, "GET", KEY)).isEqualTo("v");
    assertThatThrownBy(() -> text(source, "GET", OTHER))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("ASK " + slot + " 127.0.0.1:" + target.port());
    assertThatThrownBy(() -> source.console().command("MGET", KEY, OTHER))
        .hasMessageStartingWith("TRYAGAIN");
    migration.move(KEY);
    assertThatThrownBy(() -> text(source, "GET", KEY)).hasMessageStartingWith("ASK");
    migration.moveAll();
    migration.finish();

    assertThatThrownBy(() -> text(source, "GET", KEY))
        .hasMessageStartingWith("MOVED " + slot + " 127.0.0.1:" + target.port());
    assertThat(cluster.masterOf(KEY)).isSameAs(target);
    assertThat(cluster.console().text("GET", KEY)).isEqualTo("v");
  }

  @Test
  void killedMaster_isReplaced_andComesBackAsReplica() {
    byte[] key = "killed".getBytes(UTF_8);
    RedisServerProcess killed = cluster.killMasterOf(key);
    assertThat(killed.isRunning()).isFalse();
    RedisServerProcess next = cluster.awaitMaster(key);
    assertThat(next).isNotSameAs(killed);

    killed.restart();
    cluster.awaitStable();
    assertThat(text(killed, "INFO", "replication")).contains("role:slave");
  }
}
