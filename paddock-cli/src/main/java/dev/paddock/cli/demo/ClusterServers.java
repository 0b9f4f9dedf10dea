/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A cluster, in which slots move and masters are replaced. */
final class ClusterServers implements OwnServers.WithStandIns, OwnServers.WithSlots {
  private final RedisClusterProcess cluster;
  private @Nullable String orphan;
  private @Nullable RedisServerProcess target;

  private ClusterServers(RedisClusterProcess cluster) {
    this.cluster = cluster;
  }

  static ClusterServers start() {
    return new ClusterServers(OwnServers.attempt(() -> RedisClusterProcess.start()));
  }

  @Override
  public String uri() {
    return cluster.uri();
  }

  @Override
  public List<RedisServerProcess> processes() {
    return cluster.nodes();
  }

  @Override
  public String killMaster(String key) {
    orphan = key;
    return OwnServers.address(OwnServers.attempt(() -> cluster.killMasterOf(key.getBytes(UTF_8))));
  }

  @Override
  public void awaitStandIn() {
    String key = orphan;
    if (key != null) {
      OwnServers.attempt(() -> cluster.awaitMaster(key.getBytes(UTF_8)));
    }
  }

  @Override
  public void restore() {
    OwnServers.attempt(
        () -> {
          cluster.nodes().stream()
              .filter(each -> !each.isRunning())
              .forEach(RedisServerProcess::restart);
          cluster.awaitStable();
          return cluster;
        });
  }

  @Override
  public long moveSlot(String key) {
    return OwnServers.attempt(
        () -> {
          int slot = RedisClusterProcess.slotOf(key.getBytes(UTF_8));
          RedisServerProcess to = cluster.otherMaster(slot);
          RedisClusterProcess.SlotMigration migration = cluster.migrate(slot, to);
          target = to;
          long startNanos = System.nanoTime();
          migration.begin();
          migration.moveAll();
          long nanos = System.nanoTime() - startNanos;
          migration.finish();
          return TimeUnit.NANOSECONDS.toMillis(nanos);
        });
  }

  @Override
  public boolean arrived(String key) {
    RedisServerProcess to = target;
    return to != null && "1".equals(to.console().text("EXISTS", key));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
