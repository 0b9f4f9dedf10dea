/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.HashMap;
import java.util.Map;

/**
 * The source of truth of one key, and how old an answer may be: versions that only grow, and the
 * floor that an invalidation which has returned puts under all reads that begin after it.
 */
final class Truth {
  private long version = 1;
  private long floor;
  private long age;
  private long moment;
  // Puts that may take effect after what began meanwhile: those under way, and when others ended.
  private final Map<Begun, Long> puts = new HashMap<>();

  long version() {
    return version;
  }

  long change() {
    return ++version;
  }

  /** What no read that begins now may fall below. */
  long floor() {
    return floor;
  }

  /** How often the server may have got older values back. */
  long age() {
    return age;
  }

  /** An invalidation or a put begins; what is needed to tell its end. */
  record Begun(long version, long age, long moment) {}

  Begun begin() {
    return new Begun(version, age, ++moment);
  }

  /** A put begins, which may take effect at any time until it has ended. */
  Begun beginPut() {
    Begun begun = begin();
    puts.put(begun, Long.MAX_VALUE);
    return begun;
  }

  /** A put of which nothing is known will not take effect any more. */
  void forgetPut(Begun begun) {
    puts.put(begun, ++moment);
  }

  /** It has returned without an error, and every process goes by it. */
  void returned(Begun begun) {
    raise(begun, certain(begun));
  }

  /** What no read may fall below once it goes by an invalidation that has just returned. */
  long certain(Begun begun) {
    if (puts.containsKey(begun)) {
      puts.put(begun, ++moment);
    }
    long[] certain = {begun.version()};
    puts.forEach(
        (put, ended) -> {
          if (ended > begun.moment()) {
            certain[0] = Math.min(certain[0], put.version());
          }
        });
    return certain[0];
  }

  /** Every process goes by it from now on. */
  void raise(Begun begun, long certain) {
    // A server that was set back since may not know of it any more.
    if (begun.age() == age) {
      floor = Math.max(floor, certain);
    }
  }

  /** The server may hold older values again. */
  void setBack() {
    age++;
    floor = 0;
  }
}
