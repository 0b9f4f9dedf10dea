/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;

/** Makes the lease key of a value: another key of the same cluster slot, whatever the value's. */
final class SlotTags {
  /*
   * A key's slot is CRC16 (XMODEM) modulo 16384, of the part between the first '{' and the first '}'
   * after it if there is something between them, else of the whole key. "{" + key + "}" is no key of
   * the same slot when the key is empty, begins with '}' or has braces of its own. So a tag comes
   * from a table with one short string for each slot.
   *
   * The table is part of the protocol: processes of all versions must agree on it. It holds, for each
   * slot, the first string of that slot in this order: by length, then by the alphabet.
   */
  static final int SLOTS = 16384;

  private static final byte[] ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz".getBytes(US_ASCII);
  private static final byte[] BEFORE_TAG = "pdk:{".getBytes(US_ASCII);
  private static final byte[] BEFORE_FENCE_TAG = "pdk:fence:{".getBytes(US_ASCII);
  private static final byte[] AFTER_TAG = "}:".getBytes(US_ASCII);
  private static final int[] CRC = crcTable();
  private static final byte[][] TAGS = tagTable();

  private SlotTags() {}

  /** Returns {@code pdk:{TAG}:<value key>}. */
  static byte[] leaseKey(byte[] valueKey) {
    return tagged(BEFORE_TAG, valueKey);
  }

  /** Returns {@code pdk:fence:{TAG}:<value key>}. */
  static byte[] fenceKey(byte[] valueKey) {
    return tagged(BEFORE_FENCE_TAG, valueKey);
  }

  private static byte[] tagged(byte[] before, byte[] valueKey) {
    byte[] tag = TAGS[slot(valueKey)];
    byte[] key = new byte[before.length + tag.length + AFTER_TAG.length + valueKey.length];
    int at = append(key, 0, before);
    at = append(key, at, tag);
    at = append(key, at, AFTER_TAG);
    append(key, at, valueKey);
    return key;
  }

  private static int append(byte[] to, int at, byte[] bytes) {
    System.arraycopy(bytes, 0, to, at, bytes.length);
    return at + bytes.length;
  }

  /** Returns the tag of a slot, not a copy. */
  static byte[] tag(int slot) {
    return TAGS[slot];
  }

  /** Returns the hash that cluster slots are made of, of all bytes. */
  static int hash(byte[] bytes) {
    return crc16(bytes, 0, bytes.length);
  }

  /** Returns the cluster slot of a key. */
  static int slot(byte[] key) {
    int open = indexOf(key, '{', 0);
    if (open >= 0) {
      int close = indexOf(key, '}', open + 1);
      if (close > open + 1) {
        return crc16(key, open + 1, close) % SLOTS;
      }
    }
    return crc16(key, 0, key.length) % SLOTS;
  }

  private static int indexOf(byte[] bytes, char wanted, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private static int crc16(byte[] bytes, int from, int to) {
    int crc = 0;
    for (int i = from; i < to; i++) {
      crc = ((crc << 8) & 0xffff) ^ CRC[(crc >>> 8) ^ (bytes[i] & 0xff)];
    }
    return crc;
  }

  private static int[] crcTable() {
    int[] table = new int[256];
    for (int i = 0; i < table.length; i++) {
      int crc = i << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ 0x1021;
      }
      table[i] = crc & 0xffff;
    }
    return table;
  }

  private static byte[][] tagTable() {
    byte[][] tags = new byte[SLOTS][];
    int missing = SLOTS;
    for (int length = 1; missing > 0; length++) {
      int[] digits = new int[length];
      byte[] candidate = new byte[length];
      boolean more = true;
      while (more && missing > 0) {
        for (int i = 0; i < length; i++) {
          candidate[i] = ALPHABET[digits[i]];
        }
        int slot = crc16(candidate, 0, length) % SLOTS;
        if (tags[slot] == null) {
          tags[slot] = candidate.clone();
          missing--;
        }
        more = increment(digits);
      }
    }
    return tags;
  }

  private static boolean increment(int[] digits) {
    for (int i = digits.length - 1; i >= 0; i--) {
      if (++digits[i] < ALPHABET.length) {
        return true;
      }
      digits[i] = 0;
    }
    return false;
  }
}
