/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.StoreKey;
import dev.paddock.testkit.InMemoryRedis;
import dev.paddock.testkit.KeyState;
import dev.paddock.testkit.RedisRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the server may do with one key, by a book of its own: who was granted what and until when is
 * noted from requests and replies, not read from the records that the scripts keep.
 */
final class FillRules {
  /** Where the seq is in a record: ten digits. */
  private static final int SEQ_AT = 50;

  private static final int SEQ_END = 60;
  private static final String NOBODY = "--------------------------------";
  private static final long TTL_MAX_MILLIS = 3_000_000;

  private final World world;
  private final InMemoryRedis server;
  private final StoreKey value;
  private final StoreKey record;

  private @Nullable String holder;
  private long deadlineMillis;
  private long lengthMillis;
  private @Nullable String degradedOwner;
  private long coolDownUntil;
  private long coolDownLength;
  private long holdOffUntil;
  private long generation;
  private long recordEndsMillis = Long.MAX_VALUE;
  // By owner and epoch: a request that arrives twice may be granted twice.
  private final Map<String, Long> grants = new HashMap<>();
  private long freshSinceNanos = Long.MAX_VALUE;
  private @Nullable KeyState valueBefore;
  private @Nullable KeyState recordBefore;
  private int granted;

  FillRules(World world, InMemoryRedis server, StoreKey value, StoreKey record) {
    this.world = world;
    this.server = server;
    this.value = value;
    this.record = record;
  }

  StoreKey record() {
    return record;
  }

  /** How many loads were granted. */
  int granted() {
    return granted;
  }

  /**
   * Since when there has been a fresh value without a break; the greatest number if there is none.
   */
  long freshSinceNanos() {
    return freshSinceNanos;
  }

  /** Whether there is a value that will be fresh for so long. */
  boolean isFreshFor(long millis) {
    Header header = Header.of(server.state(value));
    return header != null && server.clockMillis() + millis < header.soft;
  }

  /** The server's clock is about to jump: what is over stays over, where the server forgets it. */
  void clockSteps() {
    if (server.clockMillis() >= holdOffUntil) {
      holdOffUntil = 0;
    }
  }

  /** The server lost keys, or got older ones back. */
  void forgot() {
    holder = null;
    degradedOwner = null;
    coolDownUntil = 0;
    holdOffUntil = 0;
    generation++;
    // What comes back from a dump may be granted again, or stored again.
    recordEndsMillis = Long.MAX_VALUE;
    freshSinceNanos = Long.MAX_VALUE;
  }

  /** As {@link #forgot}, and grants of before may count again, for their records came back. */
  void rolledBack() {
    forgot();
    Map<String, Long> again = new HashMap<>();
    grants.keySet().forEach(grant -> again.put(grant, -1L));
    grants.clear();
    grants.putAll(again);
    KeyState now = server.state(record);
    if (now != null && now.string() != null && now.string().length() > 113) {
      recordEndsMillis = server.clockMillis() + now.ttlMillis();
    }
  }

  /** What stands at the head of a value. */
  record Header(long soft, String epoch, long seq) {
    static @Nullable Header of(@Nullable KeyState state) {
      String text = state == null ? null : state.string();
      if (text == null || text.length() < 99 || !text.startsWith("PDK1 ")) {
        return null;
      }
      return new Header(
          Long.parseLong(text.substring(15, 31)),
          text.substring(60, 76),
          Long.parseLong(text.substring(77, 87)));
    }
  }

  private boolean isHeld(long now) {
    return holder != null && deadlineMillis > now && deadlineMillis - now <= lengthMillis;
  }

  void before(RedisRequest request) {
    valueBefore = server.state(value);
    recordBefore = server.state(record);
    if (server.clockMillis() > recordEndsMillis) {
      // Its grace is over: whoever was granted anything in its epoch may not store any more.
      holder = null;
      generation++;
      recordEndsMillis = Long.MAX_VALUE;
    }
  }

  private static String owner(@Nullable KeyState state) {
    String text = state == null ? null : state.string();
    return text == null || text.length() < 32 ? NOBODY : text.substring(0, 32);
  }

  private static String text(@Nullable KeyState state) {
    return state == null || state.string() == null ? "" : state.string();
  }

  void after(RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error) {
    String name = Texts.name(request);
    long now = server.clockMillis();
    List<String> words = error == null ? Texts.words(reply) : List.of("ERROR");
    KeyState recordAfter = server.state(record);
    if (recordAfter != null
        && (recordAfter.ttlMillis() < 0 || recordAfter.ttlMillis() > TTL_MAX_MILLIS)) {
      world.violate(
          Invariant.I7,
          name + " left the lease record with a TTL of " + recordAfter.ttlMillis() + " ms");
    }
    switch (name) {
      case "GET_OR_ACQUIRE" -> acquired(request, words, now, recordAfter);
      case "FILL" -> filled(request, words, recordAfter);
      case "EXTEND" -> extended(request, words, now, recordAfter);
      case "RELEASE" -> released(request, words, now, recordAfter);
      case "INVALIDATE" -> invalidated(request, words, now);
      case "PUT" -> put(words);
      default -> {}
    }
    recordEndsMillis = recordAfter == null ? Long.MAX_VALUE : now + recordAfter.ttlMillis();
    noteFreshness(now);
  }

  private void noteFreshness(long now) {
    Header header = Header.of(server.state(value));
    if (header == null || now >= header.soft) {
      freshSinceNanos = Long.MAX_VALUE;
    } else if (freshSinceNanos == Long.MAX_VALUE) {
      freshSinceNanos = world.clockwork.now();
    }
  }

  private void acquired(
      RedisRequest request, List<String> words, long now, @Nullable KeyState recordAfter) {
    String owner = Texts.arg(request, 0).substring(0, 32);
    String status = words.get(0);
    boolean granting = status.equals("GRANTED") || status.equals("STALE_GRANTED");
    if (isHeld(now) && !owner.equals(holder)) {
      if (granting) {
        world.violate(
            Invariant.I10,
            "a load was granted to "
                + shown(owner)
                + " while "
                + shown(holder)
                + " held the lease for another "
                + (deadlineMillis - now)
                + " ms");
      }
      if (!owner(recordAfter).equals(holder)) {
        world.violate(
            Invariant.I5,
            "GET_OR_ACQUIRE of " + shown(owner) + " took the lease of " + shown(holder));
      }
    }
    if (status.equals("DEGRADED")) {
      if (degradedOwner != null && !degradedOwner.equals(owner)) {
        world.violate(
            Invariant.I10,
            "a second degraded load was granted beside one lease, to " + shown(owner));
      }
      if (degradedOwner == null) {
        granted++;
      }
      degradedOwner = owner;
      grants.put(owner + " " + words.get(3), generation);
    }
    if (!granting) {
      if (status.equals("HIT") && owner.equals(holder)) {
        // Freed; by a repeated request perhaps, to which a clock that was set back shows a fresh
        // value.
        holder = null;
        if (recordAfter == null) {
          generation++;
        }
      }
      return;
    }
    String mode = Texts.arg(request, 4);
    Header header = Header.of(valueBefore);
    if (mode.equals("NORMAL") && header != null && now < header.soft) {
      world.violate(
          Invariant.I10, "a load was granted to " + shown(owner) + " beside a value that is fresh");
    }
    if (now < coolDownUntil && coolDownUntil - now <= coolDownLength) {
      world.violate(
          Invariant.I10,
          "a load was granted to "
              + shown(owner)
              + " in a cool-down of another "
              + (coolDownUntil - now)
              + " ms");
    }
    if (now < holdOffUntil) {
      world.violate(
          Invariant.I9,
          "a load that may be stored was granted to "
              + shown(owner)
              + " in a hold-off of another "
              + (holdOffUntil - now)
              + " ms");
    }
    granted++;
    holder = owner;
    degradedOwner = null;
    coolDownUntil = 0;
    lengthMillis = Long.parseLong(Texts.arg(request, 1));
    deadlineMillis = now + lengthMillis;
    grants.put(owner + " " + words.get(3), generation);
  }

  private void filled(RedisRequest request, List<String> words, @Nullable KeyState recordAfter) {
    String owner = Texts.arg(request, 0).substring(0, 32);
    KeyState valueAfter = server.state(value);
    if (!isSeqRaised(recordAfter)) {
      checkUntouched("FILL", owner, recordAfter);
    }
    Long grantedIn = grants.get(Texts.arg(request, 0).substring(0, 49));
    if (words.get(0).equals("INVALIDATED")
        && grantedIn != null
        && grantedIn == generation
        && recordBefore != null) {
      world.violate(
          Invariant.I10,
          "FILL of " + shown(owner) + " was refused although nothing newer had happened");
    }
    if (!text(valueAfter).equals(text(valueBefore))) {
      if (grantedIn == null || (grantedIn != generation && grantedIn >= 0)) {
        world.violate(
            Invariant.I9,
            "FILL of "
                + shown(owner)
                + " stored a value ("
                + words.get(0)
                + ") although something newer had happened since its grant");
      }
      Header before = Header.of(valueBefore);
      Header after = Header.of(valueAfter);
      if (before != null
          && after != null
          && before.epoch().equals(after.epoch())
          && before.seq() > after.seq()) {
        world.violate(
            Invariant.I9,
            "FILL replaced seq " + before.seq() + " by " + after.seq() + " of the same epoch");
      }
    }
    if (owner.equals(holder) && !owner(recordAfter).equals(owner)) {
      // Freed with whatever outcome: the epoch ends with its record.
      holder = null;
      generation++;
    }
  }

  /**
   * Whether nothing but the seq of the record is another, and higher: a server that went back in
   * time learns from a fill how far the epoch had come.
   */
  private boolean isSeqRaised(@Nullable KeyState recordAfter) {
    String before = text(recordBefore);
    String after = text(recordAfter);
    return before.length() > SEQ_END
        && before.length() == after.length()
        && before.substring(0, SEQ_AT).equals(after.substring(0, SEQ_AT))
        && before.substring(SEQ_END).equals(after.substring(SEQ_END))
        && before.substring(SEQ_AT, SEQ_END).compareTo(after.substring(SEQ_AT, SEQ_END)) < 0;
  }

  private void extended(
      RedisRequest request, List<String> words, long now, @Nullable KeyState recordAfter) {
    String owner = Texts.arg(request, 0);
    checkUntouched("EXTEND", owner, recordAfter);
    if (!words.get(0).equals("EXTENDED")) {
      return;
    }
    if (recordBefore == null) {
      world.violate(Invariant.I5, "EXTEND of " + shown(owner) + " made a lease that was gone");
    }
    long length = Long.parseLong(Texts.arg(request, 2));
    // What a clock that was set back has ended begins anew; what lasts is never shortened.
    if (owner.equals(holder) && (!isHeld(now) || now + length > deadlineMillis)) {
      lengthMillis = length;
      deadlineMillis = now + length;
    }
  }

  private void released(
      RedisRequest request, List<String> words, long now, @Nullable KeyState recordAfter) {
    String owner = Texts.arg(request, 0);
    checkUntouched("RELEASE", owner, recordAfter);
    if (!words.get(0).equals("RELEASED")) {
      return;
    }
    if (owner.equals(holder)) {
      holder = null;
      coolDownLength = Long.parseLong(Texts.arg(request, 1));
      coolDownUntil = now + coolDownLength;
    }
  }

  /** A command of one owner must leave the lease of another as it is. */
  private void checkUntouched(String name, String owner, @Nullable KeyState recordAfter) {
    String before = owner(recordBefore);
    if (!before.equals(NOBODY)
        && !before.equals(owner)
        && !text(recordBefore).equals(text(recordAfter))) {
      world.violate(
          Invariant.I5,
          name
              + " of "
              + shown(owner)
              + " changed the lease of "
              + shown(before)
              + (recordAfter == null ? ", which is gone" : ""));
    }
  }

  private void invalidated(RedisRequest request, List<String> words, long now) {
    if (words.get(0).equals("DONE")) {
      long length = Long.parseLong(Texts.arg(request, 1));
      ended();
      if (length > 0) {
        holdOffUntil = Math.max(holdOffUntil, now + length);
      }
    }
  }

  private void put(List<String> words) {
    if (words.get(0).equals("STORED")) {
      ended();
    }
  }

  private void ended() {
    holder = null;
    degradedOwner = null;
    coolDownUntil = 0;
    generation++;
  }

  private static String shown(@Nullable String owner) {
    return owner == null ? "nobody" : owner.substring(0, 6);
  }
}
