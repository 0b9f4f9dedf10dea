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
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one server may do with one lease, by a book of its own. */
final class LeaseRules {
  private final World world;
  private final InMemoryRedis server;
  private final StoreKey key;
  private final long ttlMaxMillis;
  private final boolean single;
  private @Nullable KeyState before;
  private @Nullable String holder;
  private long deadlineMillis;
  private long greatest;
  private boolean stepped;
  private boolean lost;

  /**
   * Makes the book.
   *
   * @param single whether this server alone grants leases, and so its tokens are the lease's
   */
  LeaseRules(World world, InMemoryRedis server, StoreKey key, long ttlMaxMillis, boolean single) {
    this.world = world;
    this.server = server;
    this.key = key;
    this.ttlMaxMillis = ttlMaxMillis;
    this.single = single;
  }

  void clockSteps() {
    stepped = true;
    holder = null;
  }

  void forgot() {
    lost = true;
    holder = null;
  }

  /** Who holds it here, by what the server has. */
  String holderNow() {
    KeyState state = server.state(key);
    return state == null ? "" : state.fields().getOrDefault("o", "");
  }

  /** When it ends here unless it is extended, in the server's milliseconds. */
  long endsMillis() {
    KeyState state = server.state(key);
    return state == null ? 0 : server.clockMillis() + state.ttlMillis();
  }

  void before() {
    before = server.state(key);
  }

  private static String owner(@Nullable KeyState state) {
    return state == null ? "" : state.fields().getOrDefault("o", "");
  }

  void after(RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error) {
    String name = Texts.name(request);
    if (!name.startsWith("LEASE_") && !name.startsWith("REDLOCK_")) {
      return;
    }
    KeyState after = server.state(key);
    long now = server.clockMillis();
    if (after != null
        && (after.ttlMillis() < 0 || (after.ttlMillis() > ttlMaxMillis && !stepped))) {
      world.violate(
          Invariant.I7, name + " left the lease with a TTL of " + after.ttlMillis() + " ms");
    }
    if (request.args().isEmpty() || name.endsWith("INSPECT")) {
      return;
    }
    String owner = Texts.arg(request, 0);
    if (owner.length() != 32) {
      return;
    }
    String had = owner(before);
    if (!had.isEmpty()
        && !had.equals(owner)
        && (!owner(after).equals(had)
            || after == null
            || before == null
            || after.ttlMillis() != before.ttlMillis())) {
      world.violate(
          Invariant.I5,
          name
              + " of "
              + shown(owner)
              + " changed the lease of "
              + shown(had)
              + (after == null ? ", which is gone" : ""));
    }
    List<String> words = error == null ? Texts.words(reply) : List.of("ERROR");
    String status = words.get(0);
    if (name.endsWith("_EXTEND")) {
      if (status.equals("EXTENDED") && !had.equals(owner)) {
        world.violate(
            Invariant.I5, "an extension of " + shown(owner) + " made a lease that was gone");
      }
      if (status.equals("EXTENDED") && owner.equals(holder) && after != null) {
        deadlineMillis = now + after.ttlMillis();
      }
    } else if (name.endsWith("_RELEASE")) {
      if (owner.equals(holder) && status.equals("RELEASED")) {
        holder = null;
      }
    } else if (name.endsWith("_ACQUIRE") && status.equals("GRANTED")) {
      if (holder != null && !holder.equals(owner) && now < deadlineMillis) {
        world.violate(
            Invariant.I1,
            "the lease was granted to "
                + shown(owner)
                + " while "
                + shown(holder)
                + " held it for another "
                + (deadlineMillis - now)
                + " ms");
      }
      String token = words.get(2);
      if (token.chars().allMatch(c -> c >= '0' && c <= '9')) {
        checkToken(owner, had, Long.parseLong(token));
      } else {
        world.violate(Invariant.I3, "the server granted a token that is no number: " + token);
      }
      holder = owner;
      if (after != null) {
        deadlineMillis = now + after.ttlMillis();
      }
    }
  }

  private void checkToken(String owner, String had, long token) {
    if (!single || had.equals(owner)) {
      return;
    }
    // Where the counter was lost and the clock set back, nothing says what there was before.
    if (token <= greatest && !(lost && stepped)) {
      world.violate(
          token == greatest ? Invariant.I2 : Invariant.I3,
          "the server granted token " + token + " after " + greatest);
    }
    greatest = Math.max(greatest, token);
  }

  private static String shown(String owner) {
    return owner.isEmpty() ? "nobody" : owner.substring(0, 6);
  }
}
