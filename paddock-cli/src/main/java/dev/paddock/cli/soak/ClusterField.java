/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A cluster, in which slots move and masters are replaced. */
final class ClusterField implements Field {
  private final RedisClusterProcess cluster;

  private ClusterField(RedisClusterProcess cluster) {
    this.cluster = cluster;
  }

  static Field start(@Nullable Path program) {
    return new ClusterField(
        program == null ? RedisClusterProcess.start() : RedisClusterProcess.start(program));
  }

  @Override
  public List<String> uris() {
    return List.of(cluster.uri());
  }

  @Override
  public List<RedisServerProcess> servers() {
    return cluster.nodes();
  }

  @Override
  public List<RedisServerProcess> processes() {
    return cluster.nodes();
  }

  @Override
  public Map<Fault, String> leftOut() {
    return Map.of();
  }

  @Override
  public RedisServerProcess writable(SplittableRandom random) {
    List<RedisServerProcess> masters = cluster.masters();
    return masters.get(random.nextInt(masters.size()));
  }

  @Override
  public String whoRules() {
    return cluster.masters().stream()
        .map(RedisServerProcess::port)
        .sorted()
        .map(String::valueOf)
        .collect(Collectors.joining(","));
  }

  @Override
  public void awaitSettled() {
    cluster.awaitStable();
  }

  @Override
  public void kill(SplittableRandom random) {
    byte[] key = aKey(random);
    RedisServerProcess old = cluster.killMasterOf(key);
    cluster.awaitMaster(key);
    old.restart();
    cluster.awaitStable();
  }

  @Override
  public void failOver(SplittableRandom random) {
    List<RedisServerProcess> replicas =
        cluster.nodes().stream()
            .filter(node -> Console.text(node, "INFO", "replication").contains("role:slave"))
            .toList();
    RedisServerProcess heir = replicas.get(random.nextInt(replicas.size()));
    Console.command(heir, "CLUSTER", "FAILOVER");
    try {
      Field.await(
          "a replica to take over",
          () -> Console.text(heir, "INFO", "replication").contains("role:master"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SoakException("interrupted", e);
    }
    cluster.awaitStable();
  }

  @Override
  public void moveSlot(SplittableRandom random) {
    int slot = RedisClusterProcess.slotOf(aKey(random));
    RedisClusterProcess.SlotMigration migration = cluster.migrate(slot, cluster.otherMaster(slot));
    migration.begin();
    Field.pause(random.nextInt(50, 500));
    migration.moveAll();
    Field.pause(random.nextInt(50, 500));
    migration.moveAll();
    migration.finish();
  }

  /** One that is there, so that its slot matters. */
  private byte[] aKey(SplittableRandom random) {
    List<?> keys = (List<?>) requireNonNull(cluster.console().command("KEYS", "pdk:*"));
    return keys.isEmpty()
        ? ("key" + random.nextInt()).getBytes(UTF_8)
        : (byte[]) requireNonNull(keys.get(random.nextInt(keys.size())));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
