/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.testkit.FillStoreHarness;
import dev.paddock.testkit.FillStoreTck;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerHarness;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The conformance suite, all stores over one cluster client of the application's, in RESP2. */
final class ClusterSharedClientFillStoreIT extends FillStoreTck {
  private static RedisClusterProcess cluster;
  private static RedisClusterClient client;

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
    client = RedisClusterClient.create(cluster.nodes().get(0).uri());
    client.setOptions(
        ClusterClientOptions.builder().protocolVersion(ProtocolVersion.RESP2).build());
  }

  @AfterAll
  static void stop() {
    client.shutdown(0, 2, TimeUnit.SECONDS);
    cluster.close();
  }

  @Override
  protected FillStoreHarness newHarness() {
    return new RedisServerHarness(
        cluster, environment -> LettuceRedis.using(client).open(environment, Transports.OPTIONS));
  }
}
