/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServerVersionTest {
  @ParameterizedTest
  @CsvSource({
    "6.2.0, true",
    "6.2.11, true",
    "6.1.99, false",
    "6.0.9, false",
    "5.9.0, false",
    "7.0.15, true",
    "7.2.4, true",
    "10.0.0, true",
    "255.255.255, true",
    "6.10.0, true"
  })
  void version_isSupported_from62On(String text, boolean supported) {
    assertThat(ServerVersion.parse(text))
        .isNotNull()
        .extracting(ServerVersion::isSupported)
        .isEqualTo(supported);
  }

  @Test
  void version_inInfo_isFoundAmongOtherLines() {
    String valkey =
        "# Server\r\nvalkey_version:8.0.1\r\nserver_name:valkey\r\nredis_version:7.2.4\r\nx:1\r\n";

    assertThat(ServerVersion.inInfo(valkey)).isEqualTo(new ServerVersion("7.2.4", 7, 2));
  }

  @ParameterizedTest
  @CsvSource({"''", "redis_version:", "redis_version:unstable", "xredis_version:7.0.0"})
  void version_notInInfo_isUnknown(String info) {
    assertThat(ServerVersion.inInfo(info)).isNull();
  }
}
