/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

/** The slot of a key in a cluster: CRC16 (XMODEM) of its tag, or of all of it. */
final class ClusterSlots {
  private static final int SLOTS = 16384;
  private static final int POLYNOMIAL = 0x1021;

  private ClusterSlots() {}

  static int of(byte[] key) {
    int open = indexOf(key, '{', 0);
    int close = open < 0 ? -1 : indexOf(key, '}', open + 1);
    return close > open + 1
        ? crc16(key, open + 1, close) % SLOTS
        : crc16(key, 0, key.length) % SLOTS;
  }

  private static int indexOf(byte[] key, char wanted, int from) {
    for (int i = from; i < key.length; i++) {
      if (key[i] == wanted) {
        return i;
      }
    }
    return -1;
  }

  private static int crc16(byte[] bytes, int from, int to) {
    int crc = 0;
    for (int i = from; i < to; i++) {
      crc ^= (bytes[i] & 0xff) << 8;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 0x8000) == 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
      }
    }
    return crc & 0xffff;
  }
}
