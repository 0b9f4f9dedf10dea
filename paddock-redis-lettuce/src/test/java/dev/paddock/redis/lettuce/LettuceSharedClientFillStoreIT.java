/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisServerHarness;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite, all stores over one client of the application's, in RESP2. */
final class LettuceSharedClientFillStoreIT extends FillStoreTck {
  private static RedisServerProcess server;
  private static RedisClient client;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    client = RedisClient.create();
    client.setOptions(ClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
  }

  @AfterAll
  static void stop() {
    client.shutdown(0, 2, TimeUnit.SECONDS);
    server.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        server,
        environment ->
            LettuceRedis.using(client, RedisURI.create(server.uri()))
                .open(environment, Transports.OPTIONS));
  }
}
