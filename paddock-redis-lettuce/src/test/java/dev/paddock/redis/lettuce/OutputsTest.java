/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

final class OutputsTest {
  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(US_ASCII));
  }

  @Test
  void list_ofBulkStrings_isDecodedByteForByte() {
    BulkListOutput output = new BulkListOutput();
    output.multi(3);
    output.set(ByteBuffer.wrap(new byte[] {0, -1, 13, 10}));
    output.set(bytes(""));
    output.set(bytes("x"));
    output.complete(0);

    assertThat(output.get())
        .containsExactly(new byte[] {0, -1, 13, 10}, new byte[0], new byte[] {'x'});
  }

  @Test
  void list_ofOtherTypes_doesNotThrow() {
    BulkListOutput output = new BulkListOutput();
    output.multi(5);
    output.set(Long.MIN_VALUE);
    output.set((ByteBuffer) null);
    output.multi(1);
    output.set(true);
    output.set(1.5);
    output.setSingle(bytes("OK"));

    assertThat(output.get())
        .extracting(element -> new String(element, US_ASCII))
        .containsExactly("-9223372036854775808", "", "1", "1.5", "OK");
  }

  @Test
  void list_empty_isEmpty() {
    BulkListOutput output = new BulkListOutput();
    output.multi(0);
    assertThat(output.get()).isEmpty();
    BulkListOutput nil = new BulkListOutput();
    nil.multi(-1);
    assertThat(nil.get()).isEmpty();
  }

  @Test
  void time_isMicroseconds() {
    MicrosOutput output = new MicrosOutput();
    output.multi(2);
    output.set(bytes("1764423456"));
    output.set(bytes("000123"));

    assertThat(output.get()).isEqualTo(1_764_423_456_000_123L);
  }

  @Test
  void time_thatIsNoNumber_isAnError() {
    MicrosOutput output = new MicrosOutput();
    output.multi(2);
    output.set(bytes("12a"));

    assertThat(output.hasError()).isTrue();
  }
}
