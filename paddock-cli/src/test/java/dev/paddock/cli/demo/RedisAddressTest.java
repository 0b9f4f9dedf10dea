/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RedisAddressTest {
  @ParameterizedTest
  @CsvSource({
    "redis://localhost,localhost,6379,0,false",
    "REDIS://localhost:6380/2,localhost,6380,2,false",
    "rediss://user:pass@example.org:6390,example.org,6390,0,true",
    "redis://:un@escaped@127.0.0.1:6380,127.0.0.1,6380,0,false",
    "redis://my_redis:6380/1,my_redis,6380,1,false",
    "redis://my_redis,my_redis,6379,0,false"
  })
  void parse_uri_isReadAsPaddockReadsIt(
      String text, String host, int port, int database, boolean tls) {
    RedisURI uri = RedisAddress.parse(text);
    assertThat(uri.getHost()).isEqualTo(host);
    assertThat(uri.getPort()).isEqualTo(port);
    assertThat(uri.getDatabase()).isEqualTo(database);
    assertThat(uri.isSsl()).isEqualTo(tls);
  }
}
