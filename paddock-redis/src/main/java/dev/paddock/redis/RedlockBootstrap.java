/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

/** Why a group of servers is bootstrapped, see {@link RedlockLeaseStore#bootstrap}. */
public enum RedlockBootstrap {
  /**
   * The servers are new: none of them has ever granted a lease of Redlock. Refused if one of them
   * shows traces of some, or does not answer. Takes no time.
   */
  NEW_SERVERS,
  /**
   * Too many of the servers have lost their memory at once, or the list of servers or the longest
   * lease was changed, and no client with the old ones is left. Waits until every lease of before
   * is over, which takes up to the longest lease and a few seconds. A majority has to answer; the
   * others are readmitted later.
   */
  MEMORY_LOST
}
