/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.spi.LeaseReply;
import java.util.concurrent.locks.ReentrantLock;

/** What this store knows of one of its own acquisitions, from the request to the release. */
final class Acquisition {
  /*
   * GRANTING -> WRITING -> HELD, or GRANTING -> STOPPED.
   *
   * GRANTING  the etcd lease was asked for; no key can exist.
   * WRITING   the key was asked for: it may exist, or may still come as long as the etcd lease lives.
   * HELD      the key is there.
   * STOPPED   given up before the key was asked for.
   */
  enum State {
    GRANTING,
    WRITING,
    HELD,
    STOPPED
  }

  private final ReentrantLock lock = new ReentrantLock();
  private State state = State.GRANTING;
  private long etcdLease;
  private long ttlSeconds;
  private long token;

  /** Goes on to ask for the key; false if that is no longer wanted. */
  boolean write(long lease, long seconds) {
    lock.lock();
    try {
      etcdLease = lease;
      ttlSeconds = seconds;
      if (state != State.GRANTING) {
        return false;
      }
      state = State.WRITING;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The key is there; the answer to who asked for it. */
  LeaseReply held(long createRevision, long validMillis) {
    lock.lock();
    try {
      token = createRevision;
      if (state == State.WRITING) {
        state = State.HELD;
      }
      return new LeaseReply(LeaseReply.Status.GRANTED, createRevision, validMillis);
    } finally {
      lock.unlock();
    }
  }

  /** Keeps the key from being asked for, if it has not been; tells in which state it was. */
  State stop() {
    lock.lock();
    try {
      State before = state;
      if (before == State.GRANTING) {
        state = State.STOPPED;
      }
      return before;
    } finally {
      lock.unlock();
    }
  }

  long etcdLease() {
    lock.lock();
    try {
      return etcdLease;
    } finally {
      lock.unlock();
    }
  }

  long ttlSeconds() {
    lock.lock();
    try {
      return ttlSeconds;
    } finally {
      lock.unlock();
    }
  }

  long token() {
    lock.lock();
    try {
      return token;
    } finally {
      lock.unlock();
    }
  }
}
