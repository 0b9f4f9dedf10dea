/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.AsyncBulkLoader;
import dev.paddock.AsyncLoader;
import dev.paddock.BulkContext;
import dev.paddock.BulkLoader;
import dev.paddock.LoadContext;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Brings the keys that may be loaded together before one bulk loader. To a flight it is the loader
 * of its key: an asynchronous one, whose load ends when the bulk loader has spoken of the key.
 */
final class BulkLoad<K, V> implements AsyncLoader<K, V> {
  /*
   * Each key is expected, until it is known whether it may be loaded here now: then it is ready, or
   * it is somebody else's, or it needs no load. Once no key is expected any more the bulk loader runs
   * for those that are ready, at most `limit` at a time and one run after the other. Which key is
   * whose never depends on a wait: so two batches that hold what the other one lacks both load and
   * store what they hold, and only then have to wait.
   *
   * A key may become ready later, when whom it waited for has failed. It is loaded as soon as no run
   * is under way, together with those that have become ready by then.
   *
   * User code, flights and the store are called outside of the lock.
   */

  /** Runs tasks in the context in which the bulk loader is to run. */
  interface Context {
    /** Runs a step there, later; false if nothing runs there any more. */
    boolean execute(Call.Step step);
  }

  private static final class Part<K, V> {
    final LoadRun<K, V> run;
    final CompletableFuture<@Nullable V> result = new CompletableFuture<>();

    Part(LoadRun<K, V> run) {
      this.run = run;
    }
  }

  private final Environment env;
  private final BulkLoader<K, V> loader;
  private final int limit;
  private final Duration maxLoadTime;
  private final Context context;
  private final Runnable onDecided;
  private final Runnable onIdle;

  private final ReentrantLock lock = new ReentrantLock();
  // Under the lock.
  private final Set<StoreKey> expected = new HashSet<>();
  private List<Part<K, V>> ready = new ArrayList<>();
  private boolean held;
  private boolean idleTold;
  private long runs;
  private boolean running;
  private boolean left;

  /**
   * Makes one that expects nothing yet.
   *
   * @param limit how many keys one call of the bulk loader gets at most
   * @param maxLoadTime after that a run no longer holds up the next
   * @param onDecided runs when nothing is expected any more, before what is ready is loaded
   * @param onIdle runs when there is nothing to load either; may be late
   */
  BulkLoad(
      Environment env,
      BulkLoader<K, V> loader,
      int limit,
      Duration maxLoadTime,
      Context context,
      Runnable onDecided,
      Runnable onIdle) {
    this.env = env;
    this.loader = loader;
    this.limit = limit;
    this.maxLoadTime = maxLoadTime;
    this.context = context;
    this.onDecided = onDecided;
    this.onIdle = onIdle;
  }

  /** Whether no thread is inside the bulk loader while it loads. */
  boolean runsElsewhere() {
    return loader instanceof AsyncBulkLoader;
  }

  void expect(List<? extends Call<K, V>> calls) {
    lock.lock();
    try {
      calls.forEach(call -> expected.add(call.storeKey));
      idleTold = false;
    } finally {
      lock.unlock();
    }
  }

  void expect(StoreKey key) {
    lock.lock();
    try {
      expected.add(key);
      idleTold = false;
    } finally {
      lock.unlock();
    }
  }

  /** Loads nothing until {@link #free}. */
  void hold() {
    lock.lock();
    try {
      held = true;
    } finally {
      lock.unlock();
    }
  }

  void free() {
    lock.lock();
    try {
      held = false;
    } finally {
      lock.unlock();
    }
    goOn();
  }

  /** A key is not expected any more, if it was. */
  void decided(StoreKey key) {
    boolean all;
    lock.lock();
    try {
      all = expected.remove(key) && expected.isEmpty();
    } finally {
      lock.unlock();
    }
    if (all) {
      onDecided.run();
      goOn();
    }
  }

  /** A key may be loaded here now. */
  @Override
  public CompletionStage<? extends @Nullable V> loadAsync(K key, LoadContext<K, V> one) {
    // The only one who makes contexts.
    LoadRun<K, V> run = (LoadRun<K, V>) one;
    Part<K, V> part = new Part<>(run);
    boolean late;
    boolean all = false;
    lock.lock();
    try {
      late = left;
      if (!late) {
        ready.add(part);
        idleTold = false;
        all = expected.remove(run.storeKey()) && expected.isEmpty();
      }
    } finally {
      lock.unlock();
    }
    if (late) {
      run.giveUp();
    } else {
      if (all) {
        onDecided.run();
      }
      goOn();
    }
    return part.result;
  }

  /** Loads nothing any more: what is not in the hands of the bulk loader goes to others. */
  void leave() {
    List<Part<K, V>> given;
    lock.lock();
    try {
      left = true;
      given = ready;
      ready = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    giveUp(given);
  }

  private void giveUp(List<Part<K, V>> parts) {
    parts.forEach(part -> part.run.giveUp());
  }

  private void goOn() {
    List<Part<K, V>> next = List.of();
    long number = 0;
    lock.lock();
    try {
      if (left || running || held || !expected.isEmpty() || idleTold) {
        return;
      }
      if (ready.isEmpty()) {
        idleTold = true;
      } else {
        running = true;
        number = ++runs;
        List<Part<K, V>> first = ready.subList(0, Math.min(limit, ready.size()));
        next = new ArrayList<>(first);
        first.clear();
      }
    } finally {
      lock.unlock();
    }
    if (next.isEmpty()) {
      onIdle.run();
    } else {
      handOver(next, number);
    }
  }

  private void handOver(List<Part<K, V>> parts, long number) {
    boolean accepted =
        context.execute(
            new Call.Step() {
              @Override
              public void run() {
                load(parts, number);
              }

              @Override
              public void dropped() {
                giveUp(parts);
                ended(number);
              }
            });
    if (!accepted) {
      giveUp(parts);
      ended(number);
    }
  }

  private void load(List<Part<K, V>> parts, long number) {
    Environment.Timer overdue = limitRun(number);
    Map<K, Part<K, V>> byKey = new LinkedHashMap<>();
    parts.forEach(part -> byKey.put(part.run.key(), part));
    Set<K> keys = Collections.unmodifiableSet(new LinkedHashSet<>(byKey.keySet()));
    BulkContext<K, V> all = new Parts<>(byKey);
    LoadRun.whileLoading(
        parts.stream().map(part -> part.run.storeKey()).toList(),
        () -> {
          try {
            if (loader instanceof AsyncBulkLoader<K, V> async) {
              CompletionStage<? extends Map<? extends K, ? extends @Nullable V>> stage =
                  async.loadAsync(keys, all);
              if (stage == null) {
                throw new IllegalStateException(
                    "the asynchronous bulk loader returned null instead of a stage");
              }
              stage.whenComplete((values, error) -> loaded(byKey, values, error, overdue, number));
            } else {
              loaded(byKey, loader.load(keys, all), null, overdue, number);
            }
          } catch (Exception e) {
            loaded(byKey, null, e, overdue, number);
          } catch (Error e) {
            loaded(byKey, null, e, overdue, number);
            throw e;
          }
        });
  }

  /** Null where the environment is closed, and nothing waits for the next run. */
  private Environment.@Nullable Timer limitRun(long number) {
    try {
      return env.schedule(() -> ended(number), maxLoadTime.toNanos());
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /** On the thread where the bulk loader ended, in whose context the values are encoded. */
  private void loaded(
      Map<K, Part<K, V>> byKey,
      @Nullable Map<? extends K, ? extends @Nullable V> values,
      @Nullable Throwable error,
      Environment.@Nullable Timer overdue,
      long number) {
    Throwable failure =
        error == null && values == null
            ? new IllegalStateException(
                "the bulk loader returned null: return an empty map if the source has no values")
            : error;
    byKey.forEach(
        (key, part) -> {
          if (values == null || failure != null) {
            part.result.completeExceptionally(
                failure == null ? new IllegalStateException("no values") : failure);
            return;
          }
          @Nullable V value;
          try {
            value = values.get(key);
          } catch (RuntimeException e) {
            part.result.completeExceptionally(e);
            return;
          }
          part.result.complete(value);
        });
    if (overdue != null) {
      overdue.cancel();
    }
    ended(number);
  }

  private void ended(long number) {
    boolean mine;
    lock.lock();
    try {
      mine = running && number == runs;
      if (mine) {
        running = false;
      }
    } finally {
      lock.unlock();
    }
    if (mine) {
      goOn();
    }
  }

  /** The keys of one run, as its loader sees them. */
  private record Parts<K, V>(Map<K, Part<K, V>> byKey) implements BulkContext<K, V> {
    private Part<K, V> part(K key) {
      Part<K, V> part = byKey.get(key);
      if (part == null) {
        throw new IllegalArgumentException(
            "this load was not asked for the key " + key + ": use the keys that it was given");
      }
      return part;
    }

    @Override
    public LoadContext<K, V> of(K key) {
      return part(key).run;
    }

    @Override
    public void loaded(K key, @Nullable V value) {
      part(key).result.complete(value);
    }

    @Override
    public void failed(K key, Throwable cause) {
      part(key).result.completeExceptionally(Objects.requireNonNull(cause, "cause"));
    }
  }
}
