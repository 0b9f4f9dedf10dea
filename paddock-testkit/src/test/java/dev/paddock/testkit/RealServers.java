/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The real side of a comparison: one server, or the masters of a cluster, none of which changes.
 */
final class RealServers {
  private final List<RedisServerProcess> all;
  private final Map<Integer, RedisServerProcess> owners = new HashMap<>();
  private final @Nullable RedisClusterProcess cluster;
  private final boolean shardedChannels;

  private RealServers(
      List<RedisServerProcess> all,
      @Nullable RedisClusterProcess cluster,
      boolean shardedChannels) {
    this.all = all;
    this.cluster = cluster;
    this.shardedChannels = shardedChannels;
  }

  static RealServers of(RedisServerProcess server, boolean shardedChannels) {
    return new RealServers(List.of(server), null, shardedChannels);
  }

  static RealServers of(RedisClusterProcess cluster) {
    return new RealServers(cluster.masters(), cluster, true);
  }

  boolean isCluster() {
    return cluster != null;
  }

  boolean hasShardedChannels() {
    return shardedChannels;
  }

  List<RedisServerProcess> all() {
    return all;
  }

  /** Returns who has a key. */
  RedisServerProcess ownerOf(byte[] key) {
    return cluster == null
        ? all.get(0)
        : owners.computeIfAbsent(ClusterSlots.of(key), cluster::masterOfSlot);
  }
}
