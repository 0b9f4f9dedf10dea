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
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes what the scripts answer: a status, the server's time, and for one of them five more. */
final class Replies {
  private static final int SHORT = 2;
  private static final int ACQUIRE = 7;
  private static final int STATUS_CHARACTERS = 20;

  private Replies() {}

  /** Decodes one script's reply. */
  @FunctionalInterface
  interface Decoder<T> {
    T decode(List<byte[]> reply) throws Undecodable;
  }

  /** A reply that none of the scripts gives. */
  static final class Undecodable extends Exception {
    private static final long serialVersionUID = 1;

    Undecodable(String why) {
      super(why);
    }
  }

  /** Checks what all replies have in common. */
  static void check(@Nullable List<byte[]> reply) throws Undecodable {
    if (reply == null || reply.size() < SHORT) {
      throw new Undecodable("it is too short");
    }
    for (byte[] part : reply) {
      if (part == null) {
        throw new Undecodable("a part of it is missing");
      }
    }
  }

  static long nowMillis(List<byte[]> reply) throws Undecodable {
    return decimal(reply, 1, 16);
  }

  static AcquireReply acquire(List<byte[]> reply) throws Undecodable {
    length(reply, ACQUIRE);
    AcquireReply.Status status = status(reply, AcquireReply.Status.class);
    byte[] epoch = reply.get(2);
    if (epoch.length != 16 || !Digits.isHex(epoch, 0)) {
      throw new Undecodable("its epoch is none");
    }
    byte[] marker = reply.get(5);
    if (marker.length != 1 || (marker[0] != 'U' && marker[0] != '-')) {
      throw new Undecodable("its marker is none");
    }
    return new AcquireReply(
        status,
        Digits.hex(epoch, 0),
        decimal(reply, 3, 10),
        decimal(reply, 4, 16),
        entry(status, reply.get(6)),
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

  static FillOutcome fill(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, FillOutcome.class);
  }

  static PutOutcome put(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, PutOutcome.class);
  }

  static ExtendOutcome extend(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, ExtendOutcome.class);
  }

  static Boolean release(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, Release.class) == Release.RELEASED;
  }

  static Boolean done(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, Invalidate.class) == Invalidate.DONE;
  }

  private enum Release {
    RELEASED,
    NOT_OWNER
  }

  private enum Invalidate {
    DONE
  }

  private static void length(List<byte[]> reply, int wanted) throws Undecodable {
    if (reply.size() != wanted) {
      throw new Undecodable("it has " + reply.size() + " parts instead of " + wanted);
    }
  }

  private static <E extends Enum<E>> E status(List<byte[]> reply, Class<E> type)
      throws Undecodable {
    byte[] bytes = reply.get(0);
    if (bytes.length <= STATUS_CHARACTERS) {
      String name = new String(bytes, ISO_8859_1);
      for (E constant : type.getEnumConstants()) {
        if (constant.name().equals(name)) {
          return constant;
        }
      }
    }
    throw new Undecodable("its status is unknown");
  }

  private static long decimal(List<byte[]> reply, int index, int width) throws Undecodable {
    byte[] digits = reply.get(index);
    long value = digits.length == width ? Digits.decimal(digits, 0, width) : -1;
    if (value < 0) {
      throw new Undecodable("part " + index + " of it is no number");
    }
    return value;
  }
}
