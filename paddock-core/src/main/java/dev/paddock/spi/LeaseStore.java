/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import dev.paddock.LeaseInspection;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Grants leases with fencing tokens. The smallest set of primitives: waiting, renewal, deadlines,
 * cleaning up after an unknown outcome, events and metrics stay in the engine.
 *
 * <p>None of the operations blocks. A stage completes exceptionally with a {@link
 * dev.paddock.StoreException}, whose {@link dev.paddock.StoreException#mayHaveHappened()} says
 * whether the outcome is <em>unknown</em> or the operation certainly did not happen. A stage may
 * also never complete: the engine puts a deadline on each, see {@link #patience}. "Another holds
 * it" is an answer, not an error, and an error is never an answer.
 *
 * <p>Promised of tokens: those of two leases of one name differ, and if one was returned before the
 * other was asked for, it is the smaller one.
 *
 * <p>Thread-safe. Stages may complete on any thread, but not under a lock of the store.
 */
public interface LeaseStore {

  /**
   * Names the kind of store, for events and messages.
   *
   * @return a word in lower case, such as {@code redis}
   */
  String kind();

  /**
   * Returns the shortest lease that the store grants.
   *
   * @return at least 1 ms
   */
  Duration leaseTimeMin();

  /**
   * Returns the longest lease that the store grants.
   *
   * @return not shorter than the shortest
   */
  Duration leaseTimeMax();

  /**
   * Returns how long one operation may take if every command in it takes its whole time-out.
   *
   * @param commandTimeout the time-out of one command
   * @return as many command time-outs as the operation has steps, one after the other
   */
  default Duration patience(Duration commandTimeout) {
    return commandTimeout;
  }

  /**
   * Tells whether the store executes operations on a lease in the order in which this process calls
   * them, as far as nothing fails: then an acquire right after a release finds the lease free, and
   * the engine need not wait for the answer to the release.
   *
   * @return false unless the store says otherwise
   */
  default boolean inOrder() {
    return false;
  }

  /**
   * Tries once to acquire a lease. Idempotent by owner.
   *
   * @param request what is asked
   * @return the answer
   */
  CompletionStage<LeaseReply> acquire(LeaseRequest request);

  /**
   * Extends a lease to its full length from now; never shortens it, never recreates it, keeps its
   * token. Idempotent.
   *
   * @param name the lease
   * @param owner its owner
   * @param token its fencing token
   * @param leaseMillis the length; at least 1
   * @return what became of it
   */
  CompletionStage<LeaseExtension> extend(String name, String owner, long token, long leaseMillis);

  /**
   * Frees a lease if it is this owner's. Idempotent. What an acquire whose outcome is unknown may
   * have left, or may still leave, is cleaned up by it as well; the engine repeats it until it has
   * an answer.
   *
   * @param name the lease
   * @param owner its owner
   * @return true if the lease was this owner's and is free now; false if it was not this owner's
   */
  CompletionStage<Boolean> release(String name, String owner);

  /**
   * Asks for hints that a lease may be free. Hints are an optimisation: the engine polls
   * underneath.
   *
   * @param name the lease
   * @param onHint runs at each hint, on any thread; must not block or throw
   * @return the subscription
   */
  HintSubscription subscribe(String name, Runnable onHint);

  /**
   * Reports what the store knows of a lease, for people and tools. Never decides anything.
   *
   * @param name the lease
   * @return the report; nodes that do not answer are in it with their error
   */
  CompletionStage<LeaseInspection> inspect(String name);

  /** Frees connections and threads of the store. Idempotent. */
  void close();
}
