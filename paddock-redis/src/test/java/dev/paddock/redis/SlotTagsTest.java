/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SlotTagsTest {
  private static final String TABLE_SHA256 =
      "07c98064fa6df084a4c6a93b57e731c7af34debbd1a8ba4f9cfef1fc7b25511f";
  private static final byte[] TRICKY = "{}ab".getBytes(US_ASCII);

  /** Slots that CLUSTER KEYSLOT of a real server answered. */
  @ParameterizedTest
  @CsvSource({
    "123456789, 12739",
    "foo, 12182",
    "'', 0",
    "{user1000}.following, 3443",
    "user1000, 3443",
    "foo{}{bar}, 8363",
    "foo{{bar}}zap, 4015",
    "foo{bar}{zap}, 5061",
    "bar, 5061",
    "}a, 642",
    "a}b, 7866",
  })
  void slot_knownKeys_isThatOfTheServer(String key, int slot) {
    assertThat(SlotTags.slot(key.getBytes(US_ASCII))).isEqualTo(slot);
  }

  @Test
  void tags_eachSlot_hasItsOwnShortPlainOne() {
    Set<String> seen = new HashSet<>();
    for (int slot = 0; slot < SlotTags.SLOTS; slot++) {
      String tag = new String(SlotTags.tag(slot), US_ASCII);
      assertThat(tag).matches("[0-9a-z]{1,4}");
      assertThat(seen.add(tag)).isTrue();
      assertThat(SlotTags.slot(SlotTags.tag(slot))).isEqualTo(slot);
    }
  }

  @Test
  void tags_neverChange_processesOfAllVersionsAgreeOnLeaseKeys() throws NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (int slot = 0; slot < SlotTags.SLOTS; slot++) {
      digest.update(SlotTags.tag(slot));
      digest.update((byte) '\n');
    }

    assertThat(HexFormat.of().formatHex(digest.digest())).isEqualTo(TABLE_SHA256);
    assertThat(new String(SlotTags.leaseKey("x:1".getBytes(US_ASCII)), US_ASCII))
        .isEqualTo("pdk:{a19}:x:1");
  }

  @Test
  void leaseKey_allStringsUpToFourBytesOfBracesAndLetters_sharesTheSlot() {
    assertSharesSlot(new byte[0]);
    for (int length = 1; length <= 4; length++) {
      byte[] key = new byte[length];
      for (int i = 0; i < 1 << (2 * length); i++) {
        for (int at = 0; at < length; at++) {
          key[at] = TRICKY[(i >> (2 * at)) & 3];
        }
        assertSharesSlot(key);
      }
    }
  }

  @Test
  void leaseKey_randomBytes_sharesTheSlotAndEndsWithTheKey() {
    Random random = new Random(16384);
    for (int i = 0; i < 20_000; i++) {
      byte[] key = new byte[random.nextInt(30)];
      random.nextBytes(key);
      for (int at = 0; at < key.length; at++) {
        if (random.nextInt(6) == 0) {
          key[at] = TRICKY[random.nextInt(2)];
        }
      }
      assertSharesSlot(key);
      byte[] lease = SlotTags.leaseKey(key);
      assertThat(Arrays.copyOfRange(lease, lease.length - key.length, lease.length)).isEqualTo(key);
    }
  }

  @Test
  void leaseKey_longKey_sharesTheSlot() {
    byte[] key = new byte[65_536];
    new Random(1).nextBytes(key);

    assertSharesSlot(key);
  }

  private static void assertSharesSlot(byte[] key) {
    if (slotByTheBook(SlotTags.leaseKey(key)) != slotByTheBook(key)) {
      throw new AssertionError("not in one slot: " + Arrays.toString(key));
    }
  }

  /** Bit by bit and on its own, so that it shares no mistake with the table. */
  private static int slotByTheBook(byte[] key) {
    String text = new String(key, ISO_8859_1);
    int open = text.indexOf('{');
    int close = open < 0 ? -1 : text.indexOf('}', open);
    String hashed = close > open + 1 ? text.substring(open + 1, close) : text;
    int crc = 0;
    for (int i = 0; i < hashed.length(); i++) {
      char c = hashed.charAt(i);
      for (int bit = 7; bit >= 0; bit--) {
        boolean top = ((crc >> 15) & 1) != ((c >> bit) & 1);
        crc = (crc << 1) & 0xffff;
        if (top) {
          crc ^= 0x1021;
        }
      }
    }
    return crc & 16383;
  }
}
