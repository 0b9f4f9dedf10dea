/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;

/**
 * The meters that Micrometer's cache binders and Spring Boot have for any cache, with the same
 * tags: a registry for Prometheus refuses one name with two sets of tags.
 */
final class SpringCounters {
  private final Counter hits;
  private final Counter misses;
  private final Counter puts;
  private final Counter removals;

  SpringCounters(MeterRegistry registry, Tags tags, String cacheManager, String cache) {
    Tags all = tags.and("cache", cache, "cache.manager", cacheManager, "name", cache);
    hits = gets(registry, all, "hit");
    misses = gets(registry, all, "miss");
    puts =
        Counter.builder("cache.puts")
            .tags(all)
            .description("The number of entries added to the cache")
            .register(registry);
    removals =
        Counter.builder("cache.removals")
            .tags(all)
            .description("Cache removals")
            .register(registry);
  }

  /** Counters that nobody sees. */
  static SpringCounters off(String cache) {
    return new SpringCounters(new CompositeMeterRegistry(), Tags.empty(), "", cache);
  }

  private static Counter gets(MeterRegistry registry, Tags tags, String result) {
    return Counter.builder("cache.gets")
        .tags(tags.and("result", result))
        .description(
            "The number of times cache lookup methods have returned a cached (hit) or uncached"
                + " (newly loaded or null) value (miss).")
        .register(registry);
  }

  void hit() {
    hits.increment();
  }

  void miss() {
    misses.increment();
  }

  void put() {
    puts.increment();
  }

  void removal() {
    removals.increment();
  }
}
