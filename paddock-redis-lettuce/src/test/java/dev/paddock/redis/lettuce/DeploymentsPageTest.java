/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Paddock;
import dev.paddock.spi.StoreFactory;
import io.lettuce.core.ReadFrom;
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

  @Test
  void uri_ofThePage_isRead() {
    String uri = "redis-sentinel://app:secret@s1:26379,s2:26379,s3:26379/0#mymaster";

    assertThat(RedisUris.address(RedisUris.parse(uri)))
        .isEqualTo("mymaster of the Sentinels s1:26379,s2:26379,s3:26379");
  }
}
