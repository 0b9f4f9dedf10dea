/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The time-bounded right to do something, from {@link LeaseLock}.
 *
 * <p>A lease can be lost while its holder still runs: it ran out during a pause, the store failed
 * over, or somebody deleted it. {@link #isValid()} tells by the clock, {@link #onLost} is told
 * before the validity ends, but neither can stop a write that is on its way. Where a second holder
 * would do damage, hand {@link #fencingToken()} to the resource and let it refuse what comes with a
 * smaller one.
 *
 * <p>Thread-safe, and bound to no thread: any may extend or close it. {@link #close()} and {@link
 * #release()} are idempotent; nothing is renewed after either. Losing a lease never makes a method
 * throw.
 *
 * <p>When the store is slow or gone, the lease stays valid as long as it was granted for, and is
 * then over; each method returns within the store's time-out. Validity is counted from before the
 * request was sent, by the monotonic clock and by the wall clock, whichever says that more time has
 * passed.
 */
public interface Lease extends AutoCloseable {

  /**
   * Returns the name of the lease.
   *
   * @return the name it was acquired by
   */
  String name();

  /**
   * Returns a number that grows from one holder of this name to the next. It never changes for this
   * lease. Tokens of different stores can't be compared with each other.
   *
   * @return the fencing token, more than 0
   */
  long fencingToken();

  /**
   * Returns what tells this lease from every other: for resources that can only compare and set,
   * and for logs.
   *
   * @return 32 hexadecimal digits, random
   */
  String uniqueId();

  /**
   * Tells whether the lease is surely still this holder's, by the clock alone: no round trip.
   *
   * @return false once the validity has ended, the store has said that the lease is lost, or it was
   *     closed; it never becomes true again
   */
  boolean isValid();

  /**
   * Returns how long the lease is valid unless it is extended or lost.
   *
   * @return zero if it is not valid
   */
  Duration remaining();

  /**
   * Extends the lease to its full length from now. Needed only by who has not asked for renewal.
   *
   * @return what became of it
   * @throws PaddockInterruptedException if the thread is interrupted while it waits; the extension
   *     may happen all the same
   */
  ExtensionOutcome extend();

  /**
   * As {@link #extend()}, without blocking.
   *
   * @return what became of it; never completes exceptionally
   */
  CompletableFuture<ExtensionOutcome> extendAsync();

  /**
   * Runs a callback when the lease is lost: before its validity ends, unless the process itself was
   * stopped, and by a tenth of the lease, 100 ms at most. At once if it is lost already; never
   * after it was closed. Several may be set; each runs at most once, on the executor.
   *
   * @param callback what to run
   */
  void onLost(Runnable callback);

  /**
   * Gives the lease back. Waits for the store's answer, also when the thread is interrupted, whose
   * flag is kept, but no longer than the store's time-out.
   *
   * @return how the lease ended; the same each time
   */
  LeaseOutcome release();

  /**
   * As {@link #release()}, without blocking.
   *
   * @return how the lease ended; never completes exceptionally
   */
  CompletableFuture<LeaseOutcome> releaseAsync();

  /**
   * Tells how the lease ended.
   *
   * @return empty while it has neither ended here nor been lost
   */
  Optional<LeaseOutcome> outcome();

  /** As {@link #release()}: for try-with-resources. Never throws. */
  @Override
  void close();
}
