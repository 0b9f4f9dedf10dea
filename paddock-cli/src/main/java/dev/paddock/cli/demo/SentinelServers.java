/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SentinelGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A primary with replicas, and Sentinels that replace it. */
final class SentinelServers implements OwnServers.WithStandIns {
  /** A machine on which all processes start at once may be busy for a second. */
  private static final Duration DOWN_AFTER = Duration.ofSeconds(2);

  private final SentinelGroup group;
  private @Nullable RedisServerProcess killed;

  private SentinelServers(SentinelGroup group) {
    this.group = group;
  }

  static SentinelServers start() {
    return new SentinelServers(OwnServers.attempt(() -> SentinelGroup.start(DOWN_AFTER)));
  }

  @Override
  public String uri() {
    return group.uri();
  }

  @Override
  public List<RedisServerProcess> processes() {
    List<RedisServerProcess> processes = new ArrayList<>(group.sentinels());
    processes.addAll(group.servers());
    return processes;
  }

  @Override
  public String killMaster(String key) {
    RedisServerProcess old = OwnServers.attempt(group::killPrimary);
    killed = old;
    return OwnServers.address(old);
  }

  @Override
  public void awaitStandIn() {
    RedisServerProcess old = killed;
    if (old != null) {
      OwnServers.attempt(() -> group.awaitNewPrimary(old));
    }
  }

  @Override
  public void restore() {
    OwnServers.attempt(
        () -> {
          group.servers().stream()
              .filter(each -> !each.isRunning())
              .forEach(RedisServerProcess::restart);
          group.awaitSync();
          return group;
        });
  }

  @Override
  public void close() {
    group.close();
  }
}
