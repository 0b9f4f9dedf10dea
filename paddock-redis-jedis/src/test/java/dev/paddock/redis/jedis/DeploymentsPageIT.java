/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.LeaseLock;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** The examples of docs/deployments.md. */
final class DeploymentsPageIT {
  private static List<AutoCloseable> named(String uri, RedisClient redisClient) {
    Paddock paddock = Paddock.newBuilder().store(JedisRedis.connect(uri)).build();
    Paddock shared = Paddock.newBuilder().store(JedisRedis.using(redisClient)).build();
    LeaseLock leases = LeaseLock.newBuilder().store(JedisRedis.connect(uri).leases()).build();
    return List.of(paddock, shared, leases);
  }

  @Test
  void examples_ofThePage_open() throws Exception {
    try (RedisServerProcess server = RedisServerProcess.start();
        RedisClient client = RedisClient.create("127.0.0.1", server.port())) {
      List<AutoCloseable> opened = named(server.uri(), client);

      for (AutoCloseable each : opened) {
        each.close();
      }
      assertThat(client.ping()).isEqualTo("PONG");
    }
  }
}
