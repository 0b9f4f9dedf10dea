/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

final class IteratesInRandomOrder {
  Set<String> setOf() {
    return Set.of("a", "b");
  }

  Set<String> setOfMany(String[] many) {
    return Set.of(many);
  }

  Set<String> setCopyOf(Collection<String> some) {
    return Set.copyOf(some);
  }

  Map<String, String> mapOf() {
    return Map.of("a", "b");
  }

  Map<String, String> mapOfEntries() {
    return Map.ofEntries(Map.entry("a", "b"), Map.entry("c", "d"));
  }

  Map<String, String> mapCopyOf(Map<String, String> some) {
    return Map.copyOf(some);
  }

  Function<Collection<String>, Set<String>> reference() {
    return Set::copyOf;
  }

  Set<String> collectedSet(List<String> some) {
    return some.stream().collect(Collectors.toUnmodifiableSet());
  }

  Map<String, String> collectedMap(List<String> some) {
    return some.stream().collect(Collectors.toUnmodifiableMap(s -> s, s -> s));
  }
}
