/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Paddock;
import dev.paddock.spi.StoreFactory;
import dev.paddock.testkit.RedisClusterProcess;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.cluster.RedisClusterClient;
import org.junit.jupiter.api.Test;

/** The examples of docs/deployments.md. */
final class DeploymentsPageTest {
  static Paddock sentinel() {
    String uri = "redis-sentinel://app:secret@s1:26379,s2:26379,s3:26379/0#mymaster";
    Paddock paddock = Paddock.connect(uri);
    return paddock;
  }

  static Paddock replicas(String uri) {
    StoreFactory store = LettuceRedis.connect(uri, ReadFrom.REPLICA_PREFERRED);
    Paddock paddock = Paddock.newBuilder().store(store).build();
    return paddock;
  }

  static Paddock cluster() {
    Paddock paddock = Paddock.connect("redis://user:password@node1:6379,node2:6379,node3:6379");
    return paddock;
  }

  static Paddock clusterClient(RedisClusterClient redisClusterClient) {
    Paddock paddock = Paddock.newBuilder().store(LettuceRedis.using(redisClusterClient)).build();
    return paddock;
  }

  static Paddock clusterForATest() {
    RedisClusterProcess cluster = RedisClusterProcess.start();
    Paddock paddock = Paddock.connect(cluster.uri());
    return paddock;
  }

  @Test
  void uri_ofThePage_isRead() {
    String uri = "redis-sentinel://app:secret@s1:26379,s2:26379,s3:26379/0#mymaster";

    assertThat(RedisUris.address(RedisUris.parse(uri)))
        .isEqualTo("mymaster of the Sentinels s1:26379,s2:26379,s3:26379");
  }
}
