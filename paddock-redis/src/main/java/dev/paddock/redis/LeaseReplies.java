/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.paddock.redis.Replies.Undecodable;
import dev.paddock.spi.LeaseExtension;
import dev.paddock.spi.LeaseReply;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes what the scripts of leases answer: a status, the server's time, and what they add. */
final class LeaseReplies {
  private static final int SHORT = 2;
  private static final int LEASE = 4;
  private static final int INSPECTION = 5;
  private static final int STATUS_CHARACTERS = 20;

  private LeaseReplies() {}

  /** Decodes one script's reply. */
  @FunctionalInterface
  interface Decoder<T> {
    T decode(List<byte[]> reply) throws Undecodable;
  }

  /** Decodes a reply, and passes on the time that is in it. */
  static <T> T decode(@Nullable List<byte[]> reply, Replies.Clock clock, Decoder<T> decoder)
      throws Undecodable {
    if (reply == null || reply.size() < SHORT) {
      throw new Undecodable("it is too short");
    }
    for (byte[] part : reply) {
      if (part == null) {
        throw new Undecodable("a part of it is missing");
      }
    }
    clock.heardMillis(nowMillis(reply));
    return decoder.decode(reply);
  }

  static long nowMillis(List<byte[]> reply) throws Undecodable {
    return decimal(reply, 1, 16);
  }

  static LeaseReply lease(List<byte[]> reply, long validMillis) throws Undecodable {
    length(reply, LEASE);
    LeaseReply.Status status = status(reply, LeaseReply.Status.class);
    boolean granted = status == LeaseReply.Status.GRANTED;
    long token = token(reply, 2);
    if (granted != (token > 0)) {
      throw new Undecodable("its token does not fit its status");
    }
    return new LeaseReply(status, token, granted ? validMillis : decimal(reply, 3, 16));
  }

  static LeaseExtension extension(List<byte[]> reply, long validMillis) throws Undecodable {
    length(reply, SHORT);
    return status(reply, Extension.class) == Extension.EXTENDED
        ? new LeaseExtension(true, validMillis)
        : LeaseExtension.LOST;
  }

  static Boolean release(List<byte[]> reply) throws Undecodable {
    length(reply, SHORT);
    return status(reply, Release.class) == Release.RELEASED;
  }

  /** What a server knows of a lease; the owner is null if nobody holds it. */
  record Inspection(@Nullable String owner, long token, long leftMillis, long nowMillis) {}

  static Inspection inspection(List<byte[]> reply) throws Undecodable {
    length(reply, INSPECTION);
    boolean held = status(reply, Holding.class) == Holding.HELD;
    return new Inspection(
        held ? new String(reply.get(2), ISO_8859_1) : null,
        token(reply, 3),
        decimal(reply, 4, 16),
        nowMillis(reply));
  }

  private enum Extension {
    EXTENDED,
    LOST
  }

  private enum Release {
    RELEASED,
    NOT_OWNER
  }

  private enum Holding {
    FREE,
    HELD
  }

  static void length(List<byte[]> reply, int wanted) throws Undecodable {
    if (reply.size() != wanted) {
      throw new Undecodable("it has " + reply.size() + " parts instead of " + wanted);
    }
  }

  static <E extends Enum<E>> E status(List<byte[]> reply, Class<E> type) throws Undecodable {
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

  static long decimal(List<byte[]> reply, int index, int width) throws Undecodable {
    byte[] digits = reply.get(index);
    long value = digits.length == width ? Digits.decimal(digits, 0, width) : -1;
    if (value < 0) {
      throw new Undecodable("part " + index + " of it is no number");
    }
    return value;
  }

  /** A fencing token may have all the digits of a long. */
  static long token(List<byte[]> reply, int index) throws Undecodable {
    long token = Digits.wide(reply.get(index));
    if (token < 0) {
      throw new Undecodable("part " + index + " of it is no token");
    }
    return token;
  }
}
