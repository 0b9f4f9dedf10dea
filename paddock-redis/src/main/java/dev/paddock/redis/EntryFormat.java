/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoredEntry;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The stored form of an entry: a header of fixed width in ASCII, and the payload. */
final class EntryFormat {
  /*
   * offset  bytes
   *      0      4  "PDK1", magic and version
   *      5      4  length of the header, decimal; what lies between the fixed part and that length
   *                is an extension, which a reader that does not know it skips
   *     10      4  flags: V value or N negative; C compressed or -; T tagged or -; reserved, -
   *     15     16  soft expiry, decimal, server ms
   *     32     16  load start, decimal, server ms
   *     49     10  load time, decimal, ms
   *     60     16  epoch, lower-case hexadecimal; all 0 for none
   *     77     10  seq, decimal
   *     88     10  schema version, decimal
   *
   * The extension of a tagged value begins with the number of its tags, two digits, and the tags,
   * each after its length in bytes, four digits.
   *
   * Fields are followed by one space, the last by a line feed. The scripts judge a header by the same
   * rules (rules.lua): a value that they take for fresh and this class can't read would be handed
   * out for ever and never be replaced.
   */
  static final int FIXED = 99;

  static final long MILLIS_MAX = 9_999_999_999_999_999L;
  static final long LOAD_MILLIS_MAX = 9_999_999_999L;
  static final long SEQ_MAX = 9_999_999_999L;

  private static final int LENGTH_AT = 5;
  private static final int FLAGS_AT = 10;
  private static final int SOFT_AT = 15;
  private static final int START_AT = 32;
  private static final int LOAD_AT = 49;
  private static final int EPOCH_AT = 60;
  private static final int SEQ_AT = 77;
  private static final int SCHEMA_AT = 88;
  private static final int MALFORMED = -1;
  private static final int HEADER_MAX = 9_999;
  private static final int TAG_COUNT = 2;
  private static final int TAGS_MAX = 99;
  private static final int TAG_LENGTH = 4;
  private static final byte[] NOTHING = {};

  private EntryFormat() {}

  /**
   * Encodes an entry. Points in time and the load time are clamped to their width; a negative entry
   * is stored without payload.
   *
   * @throws IllegalArgumentException if the seq does not fit
   */
  static byte[] encode(StoredEntry entry) {
    byte[] payload = entry.payload();
    byte[] extension = extension(entry.tags());
    int header = FIXED + extension.length;
    if (header > HEADER_MAX) {
      throw new IllegalArgumentException(
          "the tags of an entry must not need more than "
              + (HEADER_MAX - FIXED)
              + " bytes, need "
              + extension.length);
    }
    byte[] bytes = new byte[header + (entry.negative() ? 0 : payload.length)];
    putHeader(bytes, entry, header);
    System.arraycopy(extension, 0, bytes, FIXED, extension.length);
    System.arraycopy(payload, 0, bytes, header, bytes.length - header);
    return bytes;
  }

  private static byte[] extension(List<String> tags) {
    if (tags.isEmpty()) {
      return NOTHING;
    }
    if (tags.size() > TAGS_MAX) {
      throw new IllegalArgumentException(
          "an entry must not have more than " + TAGS_MAX + " tags, has " + tags.size());
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] count = new byte[TAG_COUNT];
    Digits.putDecimal(count, 0, TAG_COUNT, tags.size());
    all.writeBytes(count);
    byte[] length = new byte[TAG_LENGTH];
    for (String tag : tags) {
      byte[] bytes = tag.getBytes(UTF_8);
      Digits.putDecimal(length, 0, TAG_LENGTH, Math.min(bytes.length, HEADER_MAX));
      all.writeBytes(length);
      all.writeBytes(bytes);
    }
    return all.toByteArray();
  }

  /** The tags of an extension. */
  private static List<String> tags(byte[] bytes, int end) {
    long count = end - FIXED < TAG_COUNT ? MALFORMED : Digits.decimal(bytes, FIXED, TAG_COUNT);
    if (count < 1) {
      return StoredEntry.UNREADABLE_TAGS;
    }
    List<String> tags = new ArrayList<>();
    int at = FIXED + TAG_COUNT;
    while (tags.size() < count) {
      long length = end - at < TAG_LENGTH ? MALFORMED : Digits.decimal(bytes, at, TAG_LENGTH);
      at += TAG_LENGTH;
      if (length < 1 || length > end - at) {
        return StoredEntry.UNREADABLE_TAGS;
      }
      tags.add(new String(bytes, at, (int) length, UTF_8));
      at += (int) length;
    }
    return tags;
  }

  /** Encodes the part of the header that tells one stored entry from another. */
  static byte[] identity(StoredEntry entry) {
    byte[] header = new byte[FIXED];
    putHeader(header, entry, FIXED);
    return Arrays.copyOfRange(header, SOFT_AT, FIXED - 1);
  }

  private static void putHeader(byte[] to, StoredEntry entry, int length) {
    if (entry.seq() > SEQ_MAX) {
      throw new IllegalArgumentException(
          "seq must not be above " + SEQ_MAX + ", is " + entry.seq());
    }
    Arrays.fill(to, 0, FIXED, (byte) ' ');
    to[0] = 'P';
    to[1] = 'D';
    to[2] = 'K';
    to[3] = '1';
    Digits.putDecimal(to, LENGTH_AT, 4, length);
    to[FLAGS_AT] = (byte) (entry.negative() ? 'N' : 'V');
    to[FLAGS_AT + 1] = (byte) (entry.compressed() ? 'C' : '-');
    to[FLAGS_AT + 2] = (byte) (length > FIXED ? 'T' : '-');
    to[FLAGS_AT + 3] = '-';
    Digits.putDecimal(to, SOFT_AT, 16, Math.min(entry.softExpiryMillis(), MILLIS_MAX));
    Digits.putDecimal(to, START_AT, 16, Math.min(entry.loadStartMillis(), MILLIS_MAX));
    Digits.putDecimal(to, LOAD_AT, 10, Math.min(entry.loadMillis(), LOAD_MILLIS_MAX));
    Digits.putHex(to, EPOCH_AT, entry.epoch());
    Digits.putDecimal(to, SEQ_AT, 10, entry.seq());
    Digits.putDecimal(to, SCHEMA_AT, 10, entry.schemaVersion());
    to[FIXED - 1] = '\n';
  }

  /** Decodes what is stored; never throws. */
  static ReadReply decode(byte[] bytes) {
    if (bytes.length < FIXED) {
      return new ReadReply.Unreadable("shorter than a header");
    }
    if (bytes[0] != 'P' || bytes[1] != 'D' || bytes[2] != 'K') {
      return new ReadReply.Unreadable("not written by Paddock");
    }
    if (bytes[3] != '1') {
      return new ReadReply.Unreadable("another version of the format");
    }
    if (!separated(bytes)) {
      return new ReadReply.Unreadable("fields of the header out of place");
    }
    byte kind = bytes[FLAGS_AT];
    byte compressed = bytes[FLAGS_AT + 1];
    byte tagged = bytes[FLAGS_AT + 2];
    if ((kind != 'V' && kind != 'N')
        || (compressed != 'C' && compressed != '-')
        || (tagged != 'T' && tagged != '-')
        || bytes[FLAGS_AT + 3] != '-') {
      return new ReadReply.Unreadable("unknown flags");
    }
    long length = Digits.decimal(bytes, LENGTH_AT, 4);
    long soft = Digits.decimal(bytes, SOFT_AT, 16);
    long start = Digits.decimal(bytes, START_AT, 16);
    long load = Digits.decimal(bytes, LOAD_AT, 10);
    long seq = Digits.decimal(bytes, SEQ_AT, 10);
    long schema = Digits.decimal(bytes, SCHEMA_AT, 10);
    if (length == MALFORMED
        || soft == MALFORMED
        || start == MALFORMED
        || load == MALFORMED
        || seq == MALFORMED
        || schema == MALFORMED
        || !Digits.isHex(bytes, EPOCH_AT)) {
      return new ReadReply.Unreadable("a number in the header is malformed");
    }
    if (length < FIXED || length > bytes.length) {
      return new ReadReply.Unreadable("impossible length of the header");
    }
    if (schema > Integer.MAX_VALUE) {
      return new ReadReply.Unreadable("impossible schema version");
    }
    if (kind == 'N' && length < bytes.length) {
      return new ReadReply.Unreadable("a negative entry with a payload");
    }
    List<String> tags = tagged == 'T' ? tags(bytes, (int) length) : List.of();
    return new ReadReply.Found(
        new StoredEntry(
            kind == 'N',
            compressed == 'C',
            soft,
            start,
            load,
            Digits.hex(bytes, EPOCH_AT),
            seq,
            (int) schema,
            tags,
            Arrays.copyOfRange(bytes, (int) length, bytes.length)));
  }

  private static boolean separated(byte[] bytes) {
    return bytes[LENGTH_AT - 1] == ' '
        && bytes[FLAGS_AT - 1] == ' '
        && bytes[SOFT_AT - 1] == ' '
        && bytes[START_AT - 1] == ' '
        && bytes[LOAD_AT - 1] == ' '
        && bytes[EPOCH_AT - 1] == ' '
        && bytes[SEQ_AT - 1] == ' '
        && bytes[SCHEMA_AT - 1] == ' '
        && bytes[FIXED - 1] == '\n';
  }
}
