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
  SOCKET
}
