/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedlockBootstrap;
import dev.paddock.redis.RedlockLeaseStore;
import dev.paddock.redis.RedlockNode;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** A group of servers of the model. */
final class InMemoryRedlock {
  static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);
  private static final Duration LIMIT = Duration.ofHours(1);

  private final VirtualEnvironment environment;
  private final Duration leaseTimeMax;
  private final List<InMemoryRedis> servers = new ArrayList<>();
  private int clients;

  InMemoryRedlock(VirtualEnvironment environment, int size, Duration leaseTimeMax) {
    this.environment = environment;
    this.leaseTimeMax = leaseTimeMax;
    for (int i = 0; i < size; i++) {
      servers.add(new InMemoryRedis(environment));
    }
  }

  VirtualEnvironment environment() {
    return environment;
  }

  InMemoryRedis server(int index) {
    return servers.get(index);
  }

  List<InMemoryRedis> servers() {
    return servers;
  }

  /** Names a server as the configuration does. */
  static String address(int index) {
    return "server-" + index + ":6379";
  }

  /** Connections of another client, named client-1, client-2 and so on. */
  List<RedlockNode> connect(Environment clientEnvironment) {
    String client = "client-" + ++clients;
    List<RedlockNode> nodes = new ArrayList<>();
    for (int i = 0; i < servers.size(); i++) {
      nodes.add(new RedlockNode(address(i), servers.get(i).connect(client, clientEnvironment)));
    }
    return nodes;
  }

  int bootstrap(RedlockBootstrap occasion) {
    return environment.await(
        RedlockLeaseStore.bootstrapAsync(
            connect(environment), leaseTimeMax, occasion, environment, options()),
        LIMIT);
  }

  RedlockLeaseStore open() {
    return environment.await(openAsync(), LIMIT);
  }

  CompletionStage<RedlockLeaseStore> openAsync() {
    return RedlockLeaseStore.openAsync(connect(environment), leaseTimeMax, environment, options());
  }

  static StoreOptions options() {
    return new StoreOptions(Duration.ofSeconds(10), COMMAND_TIMEOUT);
  }

  void close() {
    servers.forEach(InMemoryRedis::close);
  }
}
