/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

final class RedisAddressTest {
  private static String user(RedisURI uri) {
    return Mono.from(uri.getCredentialsProvider().resolveCredentials()).block().getUsername();
  }

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
    List<RedisURI> uris = RedisAddress.parse(text);
    assertThat(uris).hasSize(1);
    RedisURI uri = uris.get(0);
    assertThat(uri.getHost()).isEqualTo(host);
    assertThat(uri.getPort()).isEqualTo(port);
    assertThat(uri.getDatabase()).isEqualTo(database);
    assertThat(uri.isSsl()).isEqualTo(tls);
  }

  @Test
  void parse_severalNodes_areOneUriEach_withWhatHoldsForAll() {
    List<RedisURI> uris =
        RedisAddress.parse("RedisS://app:s,cr@t@node1:7001,node_2:7002,node3?verifyPeer=CA");
    assertThat(uris).extracting(RedisURI::getHost).containsExactly("node1", "node_2", "node3");
    assertThat(uris).extracting(RedisURI::getPort).containsExactly(7001, 7002, 6379);
    assertThat(uris)
        .allSatisfy(
            uri -> {
              assertThat(uri.isSsl()).isTrue();
              assertThat(user(uri)).isEqualTo("app");
              assertThat(uri.getVerifyMode()).hasToString("CA");
            });
  }

  @Test
  void parse_sentinels_areOneUri() {
    List<RedisURI> uris =
        RedisAddress.parse("redis-sentinel://app:secret@s1:26379,s2:26380/3#mymaster");
    assertThat(uris).hasSize(1);
    RedisURI uri = uris.get(0);
    assertThat(uri.getSentinelMasterId()).isEqualTo("mymaster");
    assertThat(uri.getSentinels()).extracting(RedisURI::getHost).containsExactly("s1", "s2");
    assertThat(uri.getSentinels()).extracting(RedisURI::getPort).containsExactly(26379, 26380);
    assertThat(uri.getDatabase()).isEqualTo(3);
    assertThat(user(uri)).isEqualTo("app");
  }
}
