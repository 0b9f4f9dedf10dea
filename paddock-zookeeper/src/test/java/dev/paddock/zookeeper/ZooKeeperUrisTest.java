/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ZooKeeperUrisTest {
  @Test
  void parse_allParts_areRead() {
    ZooKeeperUris.Parsed parsed =
        ZooKeeperUris.parse("ZooKeeper://me:p%40ss+word@h1:2182,h_2,[::1]:2183/a/b-c/");

    assertThat(parsed.servers()).isEqualTo("h1:2182,h_2:2181,[::1]:2183");
    assertThat(parsed.path()).isEqualTo("/a/b-c");
    assertThat(parsed.credentials()).isEqualTo("me:p@ss+word");
    assertThat(parsed.toString()).doesNotContain("p@ss").doesNotContain("me");
  }

  @Test
  void parse_hostAlone_isEnough() {
    ZooKeeperUris.Parsed parsed = ZooKeeperUris.parse("zookeeper://host");

    assertThat(parsed.servers()).isEqualTo("host:2181");
    assertThat(parsed.path()).isEmpty();
    assertThat(parsed.credentials()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zookeeper://",
        "zookeeper://h:0",
        "zookeeper://h:65536",
        "zookeeper://h,",
        "zookeeper://h/a//b",
        "zookeeper://h/../b",
        "zookeeper://h/.",
        "zookeeper://h/ä",
        "zookeeper://s3cret@h",
        "zookeeper://:s3cret@h",
        "zookeeper://u:s3cret%@h",
        "zookeeper://u:s3cret/x@h:y",
        "etcd://h"
      })
  void parse_malformed_isRefusedWithoutRepeatingIt(String uri) {
    assertThatThrownBy(() -> ZooKeeperUris.parse(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("s3cret")
        .hasNoCause();
  }
}
