/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.FenceOutcome;
import dev.paddock.Lease;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A write to Redis that carries a fencing token: one script that any client can send, for the
 * application's own keys.
 *
 * <p>Guaranteed: the comparison and the write are one step. A key accepts a token greater than the
 * last one that it accepted, or equal from the same lease, so a holder that was paused past its
 * lease changes nothing once its successor has written. Not guaranteed: anything about writes by
 * other commands, or after a failover, a flush or an eviction that loses the fence; keep what is
 * fenced on another server than the leases if both must not be lost at once.
 *
 * <p>The value is a plain string under its own key. The fence is a hash {@code
 * pdk:fence:{TAG}:<key>} in the same cluster slot, which stays when the value is deleted or runs
 * out: it takes about 150 bytes for each key that was ever written.
 *
 * <p>Immutable and thread-safe, as long as nobody changes the arrays.
 */
public final class FencedWrite {
  private static final ScriptText SCRIPT = ScriptText.of(List.of(), "FENCED_WRITE");
  private static final byte[] NOTHING = {};
  private static final String NOBODY = "-";

  private final byte[][] keys;
  private final byte[][] args;

  private FencedWrite(
      byte[] key, long token, String uniqueId, String what, byte[] value, long millis) {
    if (token < 1) {
      throw new IllegalArgumentException("a fencing token is at least 1, is " + token);
    }
    this.keys = new byte[][] {key, SlotTags.fenceKey(key)};
    this.args =
        new byte[][] {
          Digits.wide(token),
          requireNonNull(uniqueId, "uniqueId").getBytes(UTF_8),
          what.getBytes(US_ASCII),
          value,
          Long.toString(millis).getBytes(US_ASCII)
        };
  }

  /**
   * Sets a value.
   *
   * @param key the application's key
   * @param value the value
   * @param timeToLive how long it lives, at least 1 ms; null for ever
   * @param lease whose token counts; whether it is still valid does not
   * @return the write, to be sent
   * @throws IllegalArgumentException if the time is shorter
   */
  public static FencedWrite set(
      byte[] key, byte[] value, @Nullable Duration timeToLive, Lease lease) {
    return set(key, value, timeToLive, lease.fencingToken(), lease.uniqueId());
  }

  /**
   * Sets a value.
   *
   * @param key the application's key
   * @param value the value
   * @param timeToLive how long it lives, at least 1 ms; null for ever
   * @param token the fencing token; at least 1
   * @param uniqueId of the lease that has the token
   * @return the write, to be sent
   * @throws IllegalArgumentException if the time is shorter, or the token smaller
   */
  public static FencedWrite set(
      byte[] key, byte[] value, @Nullable Duration timeToLive, long token, String uniqueId) {
    if (timeToLive != null && timeToLive.toMillis() < 1) {
      throw new IllegalArgumentException("timeToLive must be at least 1 ms, is " + timeToLive);
    }
    return new FencedWrite(
        key,
        token,
        uniqueId,
        "SET",
        requireNonNull(value, "value"),
        timeToLive == null ? 0 : Math.min(timeToLive.toMillis(), ScriptArguments.MILLIS_MAX));
  }

  /**
   * Deletes a value. Its fence stays.
   *
   * @param key the application's key
   * @param lease whose token counts; whether it is still valid does not
   * @return the write, to be sent
   */
  public static FencedWrite delete(byte[] key, Lease lease) {
    return new FencedWrite(key, lease.fencingToken(), lease.uniqueId(), "DEL", NOTHING, 0);
  }

  /**
   * Refuses all tokens up to this one from now on: before the leases of a resource come from
   * another store, whose tokens can't be compared with those of the old one. Never lowers what is
   * refused.
   *
   * @param key the application's key
   * @param floor the greatest token that is refused; at least 1
   * @return the write, to be sent; rejected if more is refused already
   * @throws IllegalArgumentException if it is less than 1
   */
  public static FencedWrite raiseFloor(byte[] key, long floor) {
    return new FencedWrite(key, floor, NOBODY, "FLOOR", NOTHING, 0);
  }

  /**
   * Returns the script, for {@code EVAL}.
   *
   * @return a copy
   */
  public byte[] script() {
    return SCRIPT.bytes().clone();
  }

  /**
   * Returns the script's SHA-1, for {@code EVALSHA}; on {@code NOSCRIPT} send it whole.
   *
   * @return 40 hexadecimal digits
   */
  public String sha1() {
    return SCRIPT.sha1();
  }

  /**
   * Returns the two keys, which share a cluster slot.
   *
   * @return a copy
   */
  public byte[][] keys() {
    return keys.clone();
  }

  /**
   * Returns the arguments.
   *
   * @return a copy
   */
  public byte[][] args() {
    return args.clone();
  }

  /**
   * Reads the reply.
   *
   * @param reply the two strings that the script answers
   * @return what the resource says
   * @throws IllegalArgumentException if it is no reply of this script
   */
  public FenceOutcome outcome(List<byte[]> reply) {
    long token = Digits.wide(args[0]);
    if (reply.size() == 2) {
      long last = Digits.wide(reply.get(1));
      String status = new String(reply.get(0), ISO_8859_1);
      if (last >= 0 && status.equals("ACCEPTED")) {
        return new FenceOutcome.Accepted(token);
      }
      if (last >= 0 && status.equals("REJECTED")) {
        return new FenceOutcome.Rejected(token, last);
      }
    }
    throw new IllegalArgumentException("the reply is none of the fenced write's");
  }
}
