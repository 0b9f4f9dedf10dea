/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EtcdUrisTest {
  @Test
  void parse_allParts_areRead() {
    EtcdUris.Parsed parsed = EtcdUris.parse("ETCDS://me:p%40ss+word@h1:2380,h2,[::1]:2381/");

    assertThat(parsed.tls()).isTrue();
    assertThat(parsed.endpoints())
        .containsExactly(
            URI.create("https://h1:2380"),
            URI.create("https://h2:2379"),
            URI.create("https://[::1]:2381"));
    assertThat(parsed.user()).isEqualTo("me");
    assertThat(parsed.password()).isEqualTo("p@ss+word");
    assertThat(parsed.toString()).isEqualTo("h1:2380,h2:2379,[::1]:2381");
  }

  @Test
  void parse_hostAlone_isEnough() {
    EtcdUris.Parsed parsed = EtcdUris.parse("etcd://host");

    assertThat(parsed.tls()).isFalse();
    assertThat(parsed.endpoints()).containsExactly(URI.create("http://host:2379"));
    assertThat(parsed.user()).isNull();
    assertThat(parsed.password()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "etcd://",
        "etcd://h:0",
        "etcd://h:65536",
        "etcd://h,",
        "etcd://h/path",
        "etcd://s3cret@h",
        "etcd://:s3cret@h",
        "etcd://u:s3cret%@h",
        "etcd://u:s3cret/x@h:y",
        "http://h"
      })
  void parse_malformed_isRefusedWithoutRepeatingIt(String uri) {
    assertThatThrownBy(() -> EtcdUris.parse(uri))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageNotContaining("s3cret")
        .hasNoCause();
  }
}
