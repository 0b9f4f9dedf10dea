/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.util.Objects.requireNonNull;

import dev.paddock.BulkLoadException;
import dev.paddock.BulkLoader;
import dev.paddock.BulkResult;
import dev.paddock.CallOptions;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One bulk read: a call for each key, and two bulk loads, for what this caller waits for and for
 * what is refreshed behind it.
 *
 * <p>It goes through the keys chunk by chunk. The next chunk begins when all that may be loaded
 * here of those before it has been loaded; what others are loading may come later.
 */
final class BulkRead<K, V> {
  private final CacheEngine<K, V> cache;
  private final Engine engine;
  private final CallOptions<K, V> options;

  /** As given, the same key perhaps more than once. */
  private final List<K> keys;

  private final List<StoreKey> storeKeys;

  /** Each key once. */
  private final List<StoreKey> distinct;

  private final Map<StoreKey, K> userKeys = new LinkedHashMap<>();
  private final Map<StoreKey, BulkCall<K, V>> calls = new ConcurrentHashMap<>();
  private final BulkLoad<K, V> foreground;
  private final BulkLoad<K, V> background;
  private final Serial turns = new Serial(this::onInternalFailure);

  /** How many keys have been asked for; touched in turns. */
  private int begun;

  private final AtomicInteger unanswered;
  private final AtomicInteger unloaded;

  /**
   * Whose thread runs what is to run in the caller's context; null if the caller does not block.
   */
  private final @Nullable BlockingCall<K, V> caller;

  private final CompletableFuture<BulkResult<K, V>> done = new CompletableFuture<>();
  private volatile boolean left;

  /**
   * Makes a read that has not begun.
   *
   * @param keys at least one
   * @param storeKeys the same in the store
   * @param blocking whether the current thread is going to wait for the end
   */
  BulkRead(
      CacheEngine<K, V> cache,
      List<K> keys,
      List<StoreKey> storeKeys,
      BulkLoader<K, V> loader,
      CallOptions<K, V> options,
      boolean blocking) {
    this.cache = cache;
    this.engine = cache.engine();
    this.options = options;
    this.keys = keys;
    this.storeKeys = storeKeys;
    for (int i = 0; i < keys.size(); i++) {
      userKeys.putIfAbsent(storeKeys.get(i), keys.get(i));
    }
    this.distinct = List.copyOf(userKeys.keySet());
    this.unanswered = new AtomicInteger(distinct.size());
    this.unloaded = new AtomicInteger(distinct.size());
    BulkLoad.Context elsewhere = step -> engine.execute(step::run);
    this.foreground =
        load(
            loader,
            cache.loadsOnExecutor() ? elsewhere : this::execute,
            this::onDecided,
            this::onIdle);
    this.background = load(loader, elsewhere, () -> {}, () -> {});
    this.caller =
        blocking
            ? new BlockingCall<>(
                keys.get(0), distinct.get(0), null, options, engine.env().nanoTime())
            : null;
  }

  private BulkLoad<K, V> load(
      BulkLoader<K, V> loader, BulkLoad.Context context, Runnable onDecided, Runnable onIdle) {
    return new BulkLoad<>(
        engine.env(),
        loader,
        cache.configuration().maxBulkSize(),
        cache.configuration().maxLoadTime(),
        context,
        onDecided,
        onIdle);
  }

  // ---------------------------------------------------------------- chunks

  /** Begins the next chunk. One after the other: chunks that end at once must not nest. */
  void begin() {
    turns.execute(this::beginChunk);
  }

  private void beginChunk() {
    int from = begun;
    int to = Math.min(distinct.size(), from + cache.configuration().maxBulkSize());
    // Before it is known to be wanted: else nobody would free it.
    background.hold();
    if (left || from == to) {
      background.free();
      return;
    }
    begun = to;
    long now = engine.env().nanoTime();
    List<Call<K, V>> chunk = new ArrayList<>(to - from);
    for (StoreKey storeKey : distinct.subList(from, to)) {
      K key = requireNonNull(userKeys.get(storeKey));
      BulkCall<K, V> call = new BulkCall<>(this, key, storeKey, foreground, options, now);
      calls.put(storeKey, call);
      chunk.add(call);
    }
    foreground.expect(chunk);
    cache.startTogether(chunk);
  }

  /** Everybody has been asked for; what is stale is refreshed without holding up anybody. */
  private void onDecided() {
    background.free();
  }

  private void onIdle() {
    begin();
  }

  private void onInternalFailure(Throwable bug) {
    RuntimeException failure =
        new LoadFailedException(
            "reading keys of cache " + cache.name() + " failed inside Paddock: please report this",
            bug,
            Duration.ZERO);
    if (caller != null) {
      caller.fail(failure);
    } else {
      done.completeExceptionally(failure);
    }
    leave();
  }

  // ---------------------------------------------------------------- the calls' side

  /** Runs a step in the caller's context, later; false if the caller has left. */
  boolean execute(Call.Step step) {
    if (left) {
      return false;
    }
    return caller != null ? caller.execute(step) : engine.execute(step::run);
  }

  boolean blocks() {
    return caller != null;
  }

  /** Another caller or process has the key. */
  void decided(BulkCall<K, V> call) {
    foreground.decided(call.storeKey);
  }

  /** A load for a caller that has had its stale value: after those that others wait for. */
  Loader<K, V> backgroundLoader(BulkCall<K, V> call) {
    background.expect(call.storeKey);
    return background;
  }

  void loaded() {
    if (unloaded.decrementAndGet() == 0 && caller != null) {
      caller.loadDone();
    }
  }

  void answered(BulkCall<K, V> call) {
    foreground.decided(call.storeKey);
    if (unanswered.decrementAndGet() > 0) {
      return;
    }
    if (caller != null) {
      caller.answer(new Lookup<>(Lookup.State.MISSING, null, false));
    } else {
      Runnable end = this::complete;
      if (!engine.execute(end)) {
        end.run();
      }
    }
  }

  private void leave() {
    left = true;
    calls.values().forEach(BulkCall::leave);
    foreground.leave();
    background.free();
  }

  // ---------------------------------------------------------------- the end

  /**
   * Waits for the end, in the thread that made this.
   *
   * @throws PaddockInterruptedException if the thread is interrupted
   * @throws PaddockClosedException if the Paddock closes
   */
  BulkResult<K, V> await() {
    BlockingCall<K, V> mine = requireNonNull(caller);
    try {
      mine.await();
    } catch (PaddockInterruptedException e) {
      throw interrupted(e);
    } finally {
      leave();
    }
    BulkResult<K, V> result = result();
    for (Throwable failure : result.failures().values()) {
      if (failure instanceof PaddockInterruptedException) {
        throw interrupted(failure);
      }
    }
    return opened(result);
  }

  private PaddockInterruptedException interrupted(Throwable cause) {
    return new PaddockInterruptedException(
        "interrupted while reading " + distinct.size() + " keys of cache " + cache.name(), cause);
  }

  /** A closed Paddock fails the whole read. */
  private BulkResult<K, V> opened(BulkResult<K, V> result) {
    for (Throwable failure : result.failures().values()) {
      if (failure instanceof PaddockClosedException) {
        throw new PaddockClosedException(
            "closed while reading " + distinct.size() + " keys of cache " + cache.name());
      }
    }
    return result;
  }

  private void complete() {
    try {
      done.complete(opened(result()));
    } catch (RuntimeException | Error e) {
      done.completeExceptionally(e);
    }
  }

  private BulkResult<K, V> result() {
    Map<K, V> values = new LinkedHashMap<>();
    Set<K> absent = new LinkedHashSet<>();
    Map<K, Throwable> failures = new LinkedHashMap<>();
    Set<K> stale = new LinkedHashSet<>();
    for (int i = 0; i < keys.size(); i++) {
      K key = keys.get(i);
      BulkCall<K, V> call = requireNonNull(calls.get(storeKeys.get(i)));
      Throwable failure = call.failure();
      Lookup<V> found = call.found();
      V value = found == null ? null : found.value();
      if (failure != null) {
        failures.put(key, failure);
      } else if (found == null || value == null) {
        absent.add(key);
      } else {
        values.put(key, value);
        if (found.stale()) {
          stale.add(key);
        }
      }
    }
    return new BulkResult<>(values, absent, failures, stale);
  }

  /** The caller's own future of the result. Cancelling it makes the caller leave. */
  <R> CompletableFuture<R> view(Function<BulkResult<K, V>, R> form) {
    CompletableFuture<R> view = new CompletableFuture<>();
    CompletionStage<BulkResult<K, V>> ended = done;
    ended.whenComplete(
        (result, error) -> {
          if (error != null) {
            view.completeExceptionally(error);
            return;
          }
          try {
            view.complete(form.apply(result));
          } catch (RuntimeException e) {
            view.completeExceptionally(e);
          }
        });
    CompletionStage<R> taken = view;
    taken.whenComplete(
        (result, error) -> {
          if (view.isCancelled()) {
            leave();
          }
        });
    return view;
  }

  /** What a read of no keys finds. */
  static <K, V> BulkResult<K, V> nothing() {
    return new BulkResult<>(
        Collections.emptyMap(),
        Collections.emptySet(),
        Collections.emptyMap(),
        Collections.emptySet());
  }

  /** The values, if no key has failed. */
  static <K, V> Map<K, V> values(String cache, Collection<?> asked, BulkResult<K, V> result) {
    if (result.isComplete()) {
      return result.values();
    }
    Map.Entry<K, Throwable> first = result.failures().entrySet().iterator().next();
    throw new BulkLoadException(
        result.failures().size()
            + " of "
            + asked.size()
            + " keys of cache "
            + cache
            + " failed, the first of them as follows: "
            + first.getValue().getMessage()
            + " (result() has what became of each key)",
        result);
  }
}
