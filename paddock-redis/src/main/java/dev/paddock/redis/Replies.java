/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.ExtendOutcome;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.PutOutcome;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoredEntry;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes what the scripts answer: one bulk string of parts with a space between them. A status,
 * the server's time in seconds and microseconds, and for one of the scripts five more, the last of
 * which is the rest, whatever it holds.
 */
final class Replies {
  private static final int STATUS_CHARACTERS = 20;
  private static final int SECONDS_DIGITS = 12;
  private static final int MICROS_DIGITS = 6;

  private final byte[] bytes;
  private int at;

  private Replies(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Decodes what follows the server's time in one script's reply. */
  @FunctionalInterface
  interface Decoder<T> {
    T decode(byte[] status, Replies rest) throws Undecodable;
  }

  /** Takes note of the server's time. */
  @FunctionalInterface
  interface Clock {
    void heardMillis(long millis);
  }

  /** A reply that none of the scripts gives. */
  static final class Undecodable extends Exception {
    private static final long serialVersionUID = 1;

    Undecodable(String why) {
      super(why);
    }
  }

  /** Decodes a reply, and passes on the time that is in it. */
  static <T> T decode(@Nullable List<byte[]> reply, Clock clock, Decoder<T> decoder)
      throws Undecodable {
    if (reply == null || reply.size() != 1 || reply.get(0) == null) {
      throw new Undecodable("it is not one string");
    }
    Replies parts = new Replies(reply.get(0));
    byte[] status = parts.part(STATUS_CHARACTERS, "its status is unknown");
    long seconds = parts.number(1, SECONDS_DIGITS, "its time is none");
    long micros = parts.number(1, MICROS_DIGITS, "its time is none");
    clock.heardMillis(seconds * 1000 + micros / 1000);
    return decoder.decode(status, parts);
  }

  static AcquireReply acquire(byte[] name, Replies rest) throws Undecodable {
    AcquireReply.Status status = status(name, AcquireReply.Status.class);
    byte[] epoch = rest.part(16, "its epoch is none");
    if (epoch.length != 16 || !Digits.isHex(epoch, 0)) {
      throw new Undecodable("its epoch is none");
    }
    long seq = rest.number(10, 10, "its seq is none");
    long leftMillis = rest.number(16, 16, "its time left is none");
    byte[] marker = rest.part(1, "its marker is none");
    if (marker.length != 1 || (marker[0] != 'U' && marker[0] != '-')) {
      throw new Undecodable("its marker is none");
    }
    return new AcquireReply(
        status,
        Digits.hex(epoch, 0),
        seq,
        leftMillis,
        entry(status, rest.remainder()),
        marker[0] == 'U');
  }

  private static @Nullable StoredEntry entry(AcquireReply.Status status, byte[] value)
      throws Undecodable {
    if (value.length == 0) {
      if (status == AcquireReply.Status.HIT) {
        throw new Undecodable("a hit without a value");
      }
      return null;
    }
    if (EntryFormat.decode(value) instanceof ReadReply.Found found) {
      return found.entry();
    }
    throw new Undecodable("its value is none");
  }

  static FillOutcome fill(byte[] status, Replies rest) throws Undecodable {
    rest.end();
    return status(status, FillOutcome.class);
  }

  static PutOutcome put(byte[] status, Replies rest) throws Undecodable {
    rest.end();
    return status(status, PutOutcome.class);
  }

  static ExtendOutcome extend(byte[] status, Replies rest) throws Undecodable {
    rest.end();
    return status(status, ExtendOutcome.class);
  }

  static Boolean release(byte[] status, Replies rest) throws Undecodable {
    rest.end();
    return status(status, Release.class) == Release.RELEASED;
  }

  static Boolean done(byte[] status, Replies rest) throws Undecodable {
    rest.end();
    return status(status, Invalidate.class) == Invalidate.DONE;
  }

  static Long barrier(byte[] status, Replies rest) throws Undecodable {
    status(status, Raise.class);
    long millis = rest.number(16, 16, "its barrier is none");
    rest.end();
    return millis;
  }

  private enum Raise {
    RAISED
  }

  private enum Release {
    RELEASED,
    NOT_OWNER
  }

  private enum Invalidate {
    DONE
  }

  private static <E extends Enum<E>> E status(byte[] status, Class<E> type) throws Undecodable {
    String name = new String(status, ISO_8859_1);
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(name)) {
        return constant;
      }
    }
    throw new Undecodable("its status is unknown");
  }

  /** Takes the bytes up to the next space, which is taken too, or to the end. */
  private byte[] part(int most, String otherwise) throws Undecodable {
    int from = at;
    int end = from;
    while (end < bytes.length && bytes[end] != ' ') {
      end++;
      if (end - from > most) {
        throw new Undecodable(otherwise);
      }
    }
    // Beyond the end if no space follows, so that an empty last part is told from none.
    at = end + 1;
    if (from > bytes.length) {
      throw new Undecodable(otherwise);
    }
    return Arrays.copyOfRange(bytes, from, end);
  }

  private long number(int least, int most, String otherwise) throws Undecodable {
    byte[] digits = part(most, otherwise);
    long value = digits.length < least ? -1 : Digits.decimal(digits, 0, digits.length);
    if (value < 0) {
      throw new Undecodable(otherwise);
    }
    return value;
  }

  private byte[] remainder() throws Undecodable {
    if (at > bytes.length) {
      throw new Undecodable("it is too short");
    }
    return Arrays.copyOfRange(bytes, at, bytes.length);
  }

  private void end() throws Undecodable {
    if (at <= bytes.length) {
      throw new Undecodable("it is too long");
    }
  }
}
