/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;

/** How often what happened. Thread-safe. */
final class Counts {
  private final ConcurrentMap<String, LongAdder> counts = new ConcurrentHashMap<>();

  void add(String what) {
    counts.computeIfAbsent(what, name -> new LongAdder()).increment();
  }

  Map<String, Long> get() {
    Map<String, Long> all = new TreeMap<>();
    counts.forEach((what, n) -> all.put(what, n.sum()));
    return all;
  }
}
