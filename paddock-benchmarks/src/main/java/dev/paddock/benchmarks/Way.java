/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

/** How a value is read, or a lease taken. */
enum Way {
  /** By Paddock. */
  PADDOCK,
  /** By GET over one Lettuce connection; it never loads. The bound of hits. */
  PLAIN,
  /** By a claim script and a publishing finish script, without any failure handling. */
  BARE,
  /** By GET, claim and finish one after the other, with requests as long as Paddock's. */
  STEPS,
  /** By GET and Paddock's own scripts, sent by hand one after the other. */
  OWN_SCRIPTS,
  /** By the usual recipe: SET NX PX, and polling. The bound of leases. */
  RECIPE,
  /** By Paddock over Jedis. */
  JEDIS,
  /**
   * By GET over a Jedis connection for each thread; it never loads. The bound of hits over Jedis.
   */
  SOCKET,
  /** By Paddock with a near cache. */
  PADDOCK_NEAR,
  /** By Caffeine, in each process alone. */
  CAFFEINE,
  /** By Spring's cache on Redis, as {@code @Cacheable(sync = true)} uses it. */
  SPRING,
  /** The same, with the writer that locks the cache. */
  SPRING_LOCKING,
  /** By a bucket and a lock of Redisson's. */
  REDISSON,
  /** By Redisson's map with local copies; it never loads. */
  REDISSON_NEAR,
  /** By JetCache, on Redis. */
  JETCACHE,
  /** By JetCache, on Redis with Caffeine in front. */
  JETCACHE_TWO_LEVELS
}
