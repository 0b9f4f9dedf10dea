/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.simulation;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The kinds of worlds. */
enum Worlds {
  /** A cache on one Redis. */
  CACHE,
  /** Leases on one Redis, and a fenced register. */
  LEASE,
  /** Leases by a majority of three, and a fenced register. */
  REDLOCK,
  /** A cache on one Redis, with bulk reads of several keys. */
  BULK,
  /** As that, with the options that change who loads, when, and what callers get. */
  OPTIONS,
  /** A cache on one Redis, with tags, and values kept near. */
  TAGS;

  String shown() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Makes a world.
   *
   * @param cut leaves steps of the plan out, or none
   * @param traced whether to keep what happens in words
   */
  World make(long seed, UnaryOperator<Plan> cut, boolean traced) {
    return switch (this) {
      case CACHE -> CacheWorld.of(seed, cut, traced);
      case LEASE -> LeaseWorld.single(seed, cut, traced);
      case REDLOCK -> LeaseWorld.redlock(seed, cut, traced);
      case BULK -> CacheWorld.bulk(seed, cut, traced);
      case OPTIONS -> CacheWorld.options(seed, cut, traced);
      case TAGS -> CacheWorld.tags(seed, cut, traced);
    };
  }

  /** The names of all, for messages. */
  static List<String> names() {
    return Arrays.stream(values()).map(Worlds::shown).toList();
  }
}
