/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps values and fill leases for a fleet of processes. The smallest set of primitives: retries,
 * waiting, jitter, time-outs and metrics stay in the engine.
 *
 * <p>Each operation is one atomic step in the store. None blocks. A stage completes exceptionally
 * with a {@link dev.paddock.StoreException}; its {@link
 * dev.paddock.StoreException#mayHaveHappened()} says whether the outcome is <em>unknown</em> (a
 * lost connection after sending) or the operation certainly did not happen. A stage may also never
 * complete: the engine puts a deadline on each. An error is never reported as a miss.
 *
 * <p>Thread-safe. Stages may complete on any thread, but not on the calling one under a lock of the
 * store.
 */
public interface FillStore {

  /**
   * Reads a value. Idempotent.
   *
   * @param key which value
   * @return what was found
   */
  CompletionStage<ReadReply> read(StoreKey key);

  /**
   * Returns the value if it is fresh, else grants the lease or says who has it. Idempotent by
   * owner.
   *
   * @param request what is asked
   * @return the answer
   */
  CompletionStage<AcquireReply> acquire(AcquireRequest request);

  /**
   * Stores a loaded value unless something newer has happened. Idempotent by owner, epoch and seq.
   *
   * @param request what to store
   * @return what became of it
   */
  CompletionStage<FillOutcome> fill(FillRequest request);

  /**
   * Stores a value that was not loaded under a lease; loads in flight will not overwrite it.
   *
   * @param key which value
   * @param entry the value, with {@link StoredEntry#NO_EPOCH}
   * @param ttlMillis how long the store keeps it; at least 1
   * @param validForMillis a store that executes this later than so many milliseconds from now does
   *     nothing; at least 1
   * @return what became of it
   */
  CompletionStage<PutOutcome> put(
      StoreKey key, StoredEntry entry, long ttlMillis, long validForMillis);

  /**
   * Removes a value; loads in flight will not store theirs. Idempotent.
   *
   * @param key which value
   * @param holdOffMillis how long from now nobody may store; 0 for no such pause
   * @return completes when it has happened
   */
  CompletionStage<Void> invalidate(StoreKey key, long holdOffMillis);

  /**
   * Makes a value stale from now on; loads in flight will not store theirs. Idempotent.
   *
   * @param key which value
   * @param holdOffMillis how long from now nobody may store; 0 for no such pause
   * @return completes when it has happened, also when there was no value
   */
  CompletionStage<Void> expire(StoreKey key, long holdOffMillis);

  /**
   * Extends a lease to its full length from now; never shortens it, never recreates it. Idempotent.
   *
   * @param key which value
   * @param owner the owner of the lease
   * @param epoch its epoch
   * @param leaseMillis the length; at least 1
   * @param graceMillis how long the lease's record is kept; more than {@code leaseMillis}
   * @return what became of it
   */
  CompletionStage<ExtendOutcome> extend(
      StoreKey key, String owner, long epoch, long leaseMillis, long graceMillis);

  /**
   * Frees a lease without storing a value. Idempotent.
   *
   * @param key which value
   * @param owner the owner of the lease
   * @param coolDownMillis how long from now nobody may acquire it; 0 for no such pause
   * @param graceMillis how long the lease's record is kept
   * @return true if the lease was this owner's
   */
  CompletionStage<Boolean> release(
      StoreKey key, String owner, long coolDownMillis, long graceMillis);

  /**
   * Asks for hints that something happened to a key. Hints are an optimisation: the engine polls
   * underneath.
   *
   * @param key which value
   * @param onHint runs at each hint, on any thread; must not block or throw. Takes the entry that a
   *     fill has just stored, if the store sends it along, else null: then something else happened,
   *     or may have
   * @return the subscription
   */
  HintSubscription subscribe(StoreKey key, Consumer<@Nullable StoredEntry> onHint);

  /**
   * Estimates the store's clock, without a round trip.
   *
   * @param key which value (a sharded store has a clock per shard)
   * @return milliseconds since 1970 by the store's clock
   */
  long nowMillis(StoreKey key);

  /**
   * Frees connections and threads of the store. Operations in flight may complete exceptionally or
   * never. Idempotent.
   */
  void close();
}
