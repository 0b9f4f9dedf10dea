/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CallOptions;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import org.jspecify.annotations.Nullable;

/**
 * One caller's view of its own call: what it asked for, and how to reach it. Whatever happens to
 * one caller (an answer, a time-out, an interrupt) touches no other.
 *
 * <p>The caller's own code and decoding run in its <em>context</em>: its thread if it blocks, the
 * executor if it does not.
 */
abstract sealed class Call<K, V> permits BlockingCall, AsyncCall, BulkCall {
  static final long NOT_WAITING = Long.MIN_VALUE;

  final K key;
  final StoreKey storeKey;

  /** Null for a caller that only looks. */
  final @Nullable Loader<K, V> loader;

  final CallOptions<K, V> options;
  final long startNanos;

  /** Loads however fresh the value is; turned off once that has been asked for. */
  boolean forced;

  /** Was made by {@code refresh}. */
  final boolean refresh;

  /** The store has failed this call: it does not ask it again. */
  boolean storeFailed;

  /** Made by a loader, on the thread where that runs. */
  final boolean nested = LoadRun.isLoading();

  /** A stored entry that this call could not use and that is to be replaced. */
  @Nullable StoredEntry broken;

  /** The call that came before this one, of those that collect for the same read. */
  @Nullable Call<K, V> collected;

  /**
   * A stale value that serves this call if its load fails or takes too long. From the last look
   * that covers it, and so within what the call may get.
   */
  @Nullable StoredEntry spare;

  /** Was there when the fill was sent whose outcome says whether anything was invalidated since. */
  boolean beforeFill;

  /** The entry whose barriers have been read for this call. */
  @Nullable StoredEntry barred;

  /** The near cache's stamp from before anything was asked for this call. */
  long nearStamp;

  // Bookkeeping of the flight that the call is in, touched only in that flight's turn.
  Environment.@Nullable Timer timer;
  Environment.@Nullable Timer loadTimer;
  long waitingSinceNanos = NOT_WAITING;

  Call(
      K key,
      StoreKey storeKey,
      @Nullable Loader<K, V> loader,
      CallOptions<K, V> options,
      long startNanos,
      boolean refresh) {
    this.key = key;
    this.storeKey = storeKey;
    this.loader = loader;
    this.options = options;
    this.startNanos = startNanos;
    this.refresh = refresh;
    this.forced = refresh;
  }

  /** A piece of work in the caller's context. */
  interface Step {
    void run();

    /** Called instead of {@link #run} if the caller left before it could run. */
    default void dropped() {}
  }

  /** Runs a step in the caller's context, later; false if the caller has left. */
  abstract boolean execute(Step step);

  /** Answers with a value, an absence, or nothing; ignored if the caller has its answer already. */
  abstract void answer(Lookup<V> result);

  /** As {@link #answer}, for a step that runs in the caller's context already. */
  void answerHere(Lookup<V> result) {
    answer(result);
  }

  /** Answers with a failure; ignored if the caller has its answer already. */
  abstract void fail(Throwable failure);

  /**
   * The load that ran in this caller's context is done: from here on it only waits for the store.
   */
  abstract void loadDone();

  /** Somebody else is loading, and from now on the caller waits; called in the flight's turn. */
  void waits() {}

  /** Loads the key after this caller has had its stale value; called once a load is wanted. */
  @Nullable Loader<K, V> backgroundLoader() {
    return loader;
  }

  /** Whether the caller has left or has its answer. */
  abstract boolean isGone();

  /** Whether a load in this caller's context blocks the caller itself. */
  abstract boolean blocks();
}
