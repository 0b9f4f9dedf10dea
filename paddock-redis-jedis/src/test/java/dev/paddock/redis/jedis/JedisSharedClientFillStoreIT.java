/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** The conformance suite, all stores with the connections of an application's client, in RESP3. */
final class JedisSharedClientFillStoreIT extends FillStoreTck {
  private static RedisServerProcess server;
  private static RedisClient client;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    client =
        RedisClient.builder()
            .hostAndPort(new HostAndPort("127.0.0.1", server.port()))
            .clientConfig(DefaultJedisClientConfig.builder().resp3().build())
            .build();
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        server, environment -> JedisRedis.using(client).open(environment, Transports.OPTIONS));
  }
}
