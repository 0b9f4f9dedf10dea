/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps values and fill leases for a fleet of processes. The smallest set of primitives: retries,
 * waiting, jitter, time-outs and metrics stay in the engine.
 *
 * <p>Each operation is one atomic step in the store. None blocks but {@link #readHere}. A stage
 * completes exceptionally with a {@link dev.paddock.StoreException}; its {@link
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
   * Reads several values, with as few round trips as the store can. Idempotent. Each is a read of
   * its own: they need not be of one moment, and one that fails says nothing about the others.
   *
   * @param keys which values, no two the same; not changed afterwards
   * @return what was found, in the order of the keys; by default a {@link #read} of each
   */
  default List<CompletionStage<ReadReply>> readAll(List<StoreKey> keys) {
    List<CompletionStage<ReadReply>> all = new ArrayList<>(keys.size());
    for (StoreKey key : keys) {
      all.add(read(key));
    }
    return all;
  }

  /**
   * Reads a value for the calling thread, which has nothing to do until it is there. The one
   * operation that may block: for no longer than a command time-out, without a lock of the store,
   * and so that nobody else waits for this thread. The stage then is complete when it is returned.
   *
   * <p>The engine calls this on the thread of a blocking call only, never on a thread of its own,
   * of the executor or of the store. Idempotent. By default {@link #read}.
   *
   * @param key which value
   * @return what was found
   */
  default CompletionStage<ReadReply> readHere(StoreKey key) {
    return read(key);
  }

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
   * Raises a barrier: values whose loads began no later are outdated. It is stored as a negative
   * entry whose load start is the barrier, and read like a value. Idempotent in effect: what is
   * executed twice raises it twice.
   *
   * @param request which barrier, and how far
   * @return the barrier, milliseconds of the store's clock
   */
  CompletionStage<Long> raiseBarrier(BarrierRequest request);

  /**
   * Asks to be told when keys of a space are put, invalidated or expired, by any process, and when
   * barriers of it are raised. Fills are not told. Messages may be lost, so this bounds nothing; it
   * only shortens.
   *
   * @param space what the keys have in common, see {@link StoreKey#space()}
   * @param listener takes the messages
   * @return the subscription; where it could not begin nothing is ever told
   */
  HintSubscription watch(byte[] space, ChangeListener listener);

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
   * Names the part of the store that has a key and may fail by itself, without a round trip: where
   * that does not answer, the others are asked all the same.
   *
   * @param key which value
   * @return equal for keys of the same part; by default the store itself
   */
  default Object shardOf(StoreKey key) {
    return this;
  }

  /**
   * Estimates the store's clock, without a round trip.
   *
   * @param key which value (a sharded store has a clock per shard)
   * @return milliseconds since 1970 by the store's clock
   */
  long nowMillis(StoreKey key);

  /**
   * Estimates the store's clock from below, without a round trip: by what the store has said, it is
   * no earlier.
   *
   * @param key which value (a sharded store has a clock per shard)
   * @return milliseconds since 1970 by the store's clock, or a little less
   */
  long earliestMillis(StoreKey key);

  /**
   * Frees connections and threads of the store. Operations in flight may complete exceptionally or
   * never. Idempotent.
   */
  void close();
}
