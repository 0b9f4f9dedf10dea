/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoredEntry;
import java.util.Arrays;
import java.util.Random;

/** Entries and stored bytes for tests. */
final class Entries {
  private static final String NEAR_MISSES = "0123456789abcdefgVNCTX- \nPDK1AF/:";

  private static final String FLAGS = "VNCT-X";

  private Entries() {}

  static StoredEntry random(Random random) {
    boolean negative = random.nextInt(4) == 0;
    byte[] payload = new byte[negative || random.nextInt(4) == 0 ? 0 : random.nextInt(50)];
    random.nextBytes(payload);
    return new StoredEntry(
        negative,
        random.nextBoolean(),
        random.nextLong(10_000_000_000_000_000L),
        random.nextLong(10_000_000_000_000_000L),
        random.nextLong(10_000_000_000L),
        random.nextLong(),
        random.nextLong(10_000_000_000L),
        random.nextInt(Integer.MAX_VALUE),
        payload);
  }

  /** The stored form of a random entry, mostly damaged a little. */
  static byte[] mutated(Random random) {
    byte[] bytes = EntryFormat.encode(random(random));
    int mutations = random.nextInt(3);
    for (int i = 0; i < mutations && bytes.length > 0; i++) {
      int at = random.nextInt(Math.min(bytes.length, EntryFormat.FIXED + 3));
      switch (random.nextInt(7)) {
        case 0 -> bytes[at] = (byte) random.nextInt(256);
        case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
        case 2 -> {
          if (bytes.length > 9) {
            Digits.putDecimal(bytes, 5, 4, 90 + random.nextInt(60));
          }
        }
        case 3 -> {
          if (bytes.length >= EntryFormat.FIXED) {
            Digits.putDecimal(bytes, 88, 10, Integer.MAX_VALUE - 2L + random.nextInt(5));
          }
        }
        case 4 -> {
          if (bytes.length > 14) {
            bytes[10 + random.nextInt(4)] = (byte) FLAGS.charAt(random.nextInt(FLAGS.length()));
          }
        }
        default -> bytes[at] = (byte) NEAR_MISSES.charAt(random.nextInt(NEAR_MISSES.length()));
      }
    }
    return bytes;
  }

  static StoredEntry found(ReadReply reply) {
    assertThat(reply).isInstanceOf(ReadReply.Found.class);
    return ((ReadReply.Found) reply).entry();
  }

  static void assertSame(StoredEntry actual, StoredEntry expected) {
    assertThat(actual.toString()).isEqualTo(expected.toString());
    assertThat(actual.payload()).isEqualTo(expected.payload());
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }
}
