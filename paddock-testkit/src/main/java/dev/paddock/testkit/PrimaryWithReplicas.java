/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A real primary and its replicas, each a {@link RedisServerProcess} on a free port of the loopback
 * interface. Nothing watches over them: a primary that dies stays dead, see {@link SentinelGroup}
 * for one that is replaced.
 *
 * <p>Thread-safe. {@link #close()} ends all servers.
 *
 * @since 0.1.0
 */
public final class PrimaryWithReplicas implements AutoCloseable {
  private final List<RedisServerProcess> servers = new ArrayList<>();

  private PrimaryWithReplicas() {}

  /**
   * Starts the servers that {@link RedisServerProcess#start(String...)} would start, and waits
   * until the replicas are in sync.
   *
   * @param replicas how many replicas; at least 1
   * @param settings added to the command line of each server
   * @return the servers
   * @throws IllegalStateException if one does not come up, with its log, or they do not get in sync
   */
  public static PrimaryWithReplicas start(int replicas, String... settings) {
    return start(List.of(RedisServerProcess.chosen().toString()), replicas, settings);
  }

  /**
   * Starts servers by a command of one or more words, and waits until the replicas are in sync.
   *
   * @param command as for {@link RedisServerProcess#start(List, String...)}
   * @param replicas how many replicas; at least 1
   * @param settings added to the command line of each server
   * @return the servers
   * @throws IllegalStateException if one does not come up, with its log, or they do not get in sync
   */
  public static PrimaryWithReplicas start(List<String> command, int replicas, String... settings) {
    if (replicas < 1) {
      throw new IllegalArgumentException("replicas must be at least 1, is " + replicas);
    }
    PrimaryWithReplicas all = new PrimaryWithReplicas();
    try {
      List<String> own = new ArrayList<>(Arrays.asList(settings));
      // Else a primary waits for five seconds for more replicas before it syncs the first.
      own.addAll(List.of("--repl-diskless-sync-delay", "0"));
      all.servers.add(RedisServerProcess.start(command, own.toArray(new String[0])));
      own.addAll(List.of("--replicaof", "127.0.0.1 " + all.primary().port()));
      for (int i = 0; i < replicas; i++) {
        all.servers.add(RedisServerProcess.start(command, own.toArray(new String[0])));
      }
      all.awaitSync();
      return all;
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /**
   * Returns the server that was started as the primary.
   *
   * @return always the same, whatever has become of it
   */
  public RedisServerProcess primary() {
    return servers.get(0);
  }

  /**
   * Returns the servers that were started as replicas.
   *
   * @return always the same, whatever has become of them
   */
  public List<RedisServerProcess> replicas() {
    return List.copyOf(servers.subList(1, servers.size()));
  }

  /**
   * Waits until each replica has what the primary has by now.
   *
   * @throws IllegalStateException if that takes more than a minute
   */
  public void awaitSync() {
    long offset = ReplicationInfo.of(primary()).offset();
    for (RedisServerProcess replica : replicas()) {
      ReplicationInfo.awaitUntil(
          "a replica to be in sync",
          () -> {
            ReplicationInfo info = ReplicationInfo.of(replica);
            return info.inSync() && info.offset() >= offset;
          });
    }
  }

  /** Ends all servers. Idempotent. */
  @Override
  public void close() {
    servers.forEach(RedisServerProcess::close);
  }
}
