/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Ways to servers that can be cut: of one worker to all, or of all workers to one. */
final class Links implements AutoCloseable {
  private final Map<Integer, FaultProxy> proxies = new LinkedHashMap<>();

  Links(List<RedisServerProcess> servers) {
    servers.forEach(server -> proxies.put(server.port(), FaultProxy.to(server.port())));
  }

  /** Port of a server to port of the way to it. */
  Map<Integer, Integer> ports() {
    Map<Integer, Integer> ports = new TreeMap<>();
    proxies.forEach((server, proxy) -> ports.put(server, proxy.port()));
    return ports;
  }

  private Collection<FaultProxy> all() {
    return proxies.values();
  }

  void cut() {
    all().forEach(proxy -> proxy.refuse(true));
    all().forEach(FaultProxy::reset);
  }

  void slow(Duration up, Duration down) {
    all().forEach(proxy -> proxy.delayUp(up));
    all().forEach(proxy -> proxy.delayDown(down));
  }

  void swallow(boolean requests) {
    all().forEach(requests ? proxy -> proxy.blackHoleUp(true) : proxy -> proxy.blackHoleDown(true));
  }

  void heal() {
    all().forEach(FaultProxy::heal);
  }

  /** What was swallowed is missing, so what would follow it makes no sense. */
  void healAndReconnect() {
    all().forEach(FaultProxy::cut);
    heal();
    all().forEach(FaultProxy::cut);
  }

  @Override
  public void close() {
    all().forEach(FaultProxy::close);
  }
}
