/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.util.Objects.requireNonNull;

import dev.paddock.AsyncLoader;
import dev.paddock.LoadContext;
import dev.paddock.Loader;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One run of one loader, in the context of whoever runs it: the {@link LoadContext} it is given,
 * and the result. The result is handed over once.
 */
final class LoadRun<K, V> implements LoadContext<K, V> {
  /** Keys that the current thread is loading, innermost last. */
  private static final ThreadLocal<@Nullable Deque<StoreKey>> LOADING = new ThreadLocal<>();

  /** Takes the end of a run, on the thread where it ended. */
  interface OnEnd<K, V> {
    void accept(LoadRun<K, V> run);
  }

  private final K key;
  private final StoreKey storeKey;
  private final Loader<K, V> loader;
  private final @Nullable FillLease lease;
  private final boolean storable;
  private final Supplier<@Nullable V> stale;
  private final Duration staleLimit;
  private final boolean taggable;
  private final OnEnd<K, V> onEnd;

  private volatile @Nullable Duration timeToLive;
  private volatile @Nullable Duration serveStaleFor;
  private volatile @Nullable Duration coolDown;
  private volatile @Nullable V kept;
  private final AtomicReference<List<String>> tags = new AtomicReference<>(List.of());
  private volatile boolean skipped;
  private volatile boolean absent;
  private @Nullable V value;
  private @Nullable Throwable failure;
  private boolean interrupted;
  private boolean givenUp;

  /** The bytes to store, when the owner of the run has made them. */
  EntryCoder.@Nullable Payload payload;

  /**
   * Makes a run.
   *
   * @param lease keeps other processes from loading the key; null if nothing does
   * @param storable whether the store may take the result: under a lease, and from the degraded
   *     load, which runs beside another's
   * @param staleLimit how long values are kept past their soft TTL at most
   * @param taggable whether values can have tags
   */
  LoadRun(
      K key,
      StoreKey storeKey,
      Loader<K, V> loader,
      @Nullable FillLease lease,
      boolean storable,
      Supplier<@Nullable V> stale,
      Duration staleLimit,
      boolean taggable,
      OnEnd<K, V> onEnd) {
    this.key = key;
    this.storeKey = storeKey;
    this.loader = loader;
    this.lease = lease;
    this.storable = storable;
    this.stale = stale;
    this.staleLimit = staleLimit;
    this.taggable = taggable;
    this.onEnd = onEnd;
  }

  /** Tells whether the current thread is inside a loader. */
  static boolean isLoading() {
    return LOADING.get() != null;
  }

  /** Tells whether the current thread is inside the loader of a key. */
  static boolean isLoading(StoreKey key) {
    Deque<StoreKey> keys = LOADING.get();
    return keys != null && keys.contains(key);
  }

  /**
   * Runs the loader. Never throws an exception; an {@link Error} goes on after the run has ended.
   */
  void run() {
    Deque<StoreKey> keys = LOADING.get();
    if (keys == null) {
      keys = new ArrayDeque<>();
      LOADING.set(keys);
    }
    keys.addLast(storeKey);
    try {
      if (loader instanceof AsyncLoader<K, V> async) {
        CompletionStage<? extends @Nullable V> stage = async.loadAsync(key, this);
        if (stage == null) {
          throw new IllegalStateException(
              "the asynchronous loader of "
                  + storeKey
                  + " returned null instead of a stage: for \"there is none\" return a stage that"
                  + " completes with null");
        }
        stage.whenComplete(
            (result, error) -> {
              if (error == null) {
                end(result, null);
              } else {
                end(null, unwrapped(error));
              }
            });
      } else {
        end(loader.load(key, this), null);
      }
    } catch (Exception e) {
      end(null, e);
    } catch (Error e) {
      end(null, e);
      throw e;
    } finally {
      keys.removeLast();
      if (keys.isEmpty()) {
        LOADING.remove();
      }
    }
  }

  /** Runs a loader of several keys, which are marked as being loaded by this thread. */
  static void whileLoading(List<StoreKey> together, Runnable loading) {
    Deque<StoreKey> keys = LOADING.get();
    if (keys == null) {
      keys = new ArrayDeque<>();
      LOADING.set(keys);
    }
    int before = keys.size();
    keys.addAll(together);
    try {
      loading.run();
    } finally {
      while (keys.size() > before) {
        keys.removeLast();
      }
      if (keys.isEmpty()) {
        LOADING.remove();
      }
    }
  }

  /** Ends the run before anything was loaded, since nobody is left in whose context it could be. */
  void giveUp() {
    givenUp = true;
    failure = new CancellationException("nobody is left to load");
    onEnd.accept(this);
  }

  private static Throwable unwrapped(Throwable error) {
    Throwable cause = error;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private void end(@Nullable V result, @Nullable Throwable error) {
    V unchanged = kept;
    value = absent ? null : unchanged != null ? unchanged : result;
    failure = error;
    if (error != null) {
      boolean caught = isInterrupt(error);
      interrupted = caught || Thread.currentThread().isInterrupted();
      if (caught) {
        Thread.currentThread().interrupt();
      }
    }
    onEnd.accept(this);
  }

  private static boolean isInterrupt(Throwable error) {
    Throwable cause = error;
    for (int depth = 0; cause != null && depth < 20; depth++) {
      if (cause instanceof InterruptedException) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }

  @Nullable V value() {
    return value;
  }

  @Nullable Throwable failure() {
    return failure;
  }

  boolean failedByInterrupt() {
    return interrupted;
  }

  /** Whether the loader never began. */
  boolean isGivenUp() {
    return givenUp;
  }

  /** Whether no thread is inside the loader while it loads. */
  boolean runsElsewhere() {
    return loader instanceof BulkLoad<K, V> together
        ? together.runsElsewhere()
        : loader instanceof AsyncLoader;
  }

  StoreKey storeKey() {
    return storeKey;
  }

  /** Whether its value is for its callers alone. */
  boolean isSkipped() {
    return skipped;
  }

  boolean isStorable() {
    return storable && !skipped;
  }

  List<String> tags() {
    return requireNonNull(tags.get());
  }

  /** Whether the value is the stale one, because the source has not changed. */
  boolean isUnchanged() {
    return kept != null;
  }

  @Nullable Duration ownTimeToLive() {
    return timeToLive;
  }

  @Nullable Duration ownStaleWindow() {
    return serveStaleFor;
  }

  @Nullable Duration ownCoolDown() {
    return coolDown;
  }

  void failWith(RuntimeException error) {
    failure = error;
  }

  @Override
  public K key() {
    return key;
  }

  @Override
  public @Nullable V staleValue() {
    return stale.get();
  }

  @Override
  public boolean isLeased() {
    return lease != null;
  }

  @Override
  public boolean isLeaseLost() {
    return lease != null && lease.isLost();
  }

  @Override
  public void onLeaseLost(Runnable callback) {
    if (lease != null) {
      lease.onLost(callback);
    }
  }

  @Override
  public void timeToLive(Duration duration) {
    timeToLive = Limits.timeToLive(duration, "timeToLive");
  }

  @Override
  public void serveStaleFor(Duration duration) {
    Limits.window(duration, "serveStaleFor");
    if (duration.compareTo(staleLimit) > 0) {
      throw new IllegalArgumentException(
          "serveStaleFor of one value can only be shorter than the cache's, which is "
              + staleLimit
              + ", is "
              + duration
              + ": raise serveStaleFor or failSafeFor of the cache");
    }
    serveStaleFor = duration;
  }

  @Override
  public void notModified() {
    V unchanged = staleValue();
    if (unchanged == null) {
      throw new IllegalStateException(
          "there is no stale value of "
              + storeKey
              + " that could be kept: call notModified only if staleValue() is not null");
    }
    kept = unchanged;
  }

  @Override
  public void coolDown(Duration duration) {
    coolDown = Limits.pause(duration, "coolDown");
  }

  @Override
  public void tags(String... names) {
    if (!taggable) {
      throw new IllegalStateException(
          "the cache of " + storeKey + " was built without tags: set tagLag to use them");
    }
    tags.updateAndGet(before -> Limits.tags(before, names));
  }

  @Override
  public void skipCaching() {
    skipped = true;
  }

  @Override
  public void markAbsent() {
    absent = true;
  }
}
