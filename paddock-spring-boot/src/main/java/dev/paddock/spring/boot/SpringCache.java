/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.CallOptions;
import dev.paddock.FillTimeoutException;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.StoreException;
import dev.paddock.TooManyLoadsException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.interceptor.CacheErrorHandler;
import org.springframework.cache.support.SimpleValueWrapper;

/**
 * Spring's view of one cache.
 *
 * <p>A failed load, and a load that did not come in time, are a {@link ValueRetrievalException}:
 * the only exception that a lenient {@link CacheErrorHandler} does not turn into a call of the
 * method, by each caller for itself. Redis being gone is no failure of a read.
 */
final class SpringCache implements Cache {
  private final dev.paddock.Cache<Object, Object> cache;
  private final TransactionalReads reads;
  private final boolean transactionAware;
  private final Supplier<CacheErrorHandler> errors;
  private final CallOptions<Object, Object> freshOnly;

  SpringCache(
      dev.paddock.Cache<Object, Object> cache,
      TransactionalReads reads,
      boolean transactionAware,
      Supplier<CacheErrorHandler> errors) {
    this.cache = cache;
    this.reads = reads;
    this.transactionAware = transactionAware;
    this.errors = errors;
    this.freshOnly = cache.options().alwaysFresh();
  }

  @Override
  public String getName() {
    return cache.name();
  }

  @Override
  public Object getNativeCache() {
    return cache;
  }

  @Override
  public @Nullable ValueWrapper get(Object key) {
    return isTouched(key) ? null : look(key);
  }

  @Override
  @SuppressWarnings("unchecked") // checked by hand
  public <T> @Nullable T get(Object key, @Nullable Class<T> type) {
    ValueWrapper found = get(key);
    Object value = found == null ? null : found.get();
    if (value != null && type != null && !type.isInstance(value)) {
      throw new IllegalStateException(
          "cache \""
              + getName()
              + "\" holds a value of "
              + value.getClass().getName()
              + " for this key, not of "
              + type.getName());
    }
    return (T) value;
  }

  @Override
  @SuppressWarnings("unchecked") // the caller knows what its loader returns
  public <T> @Nullable T get(Object key, Callable<T> valueLoader) {
    if (transactionAware && !reads.mayBeStored(getName())) {
      ValueWrapper found = get(key);
      return found != null ? (T) found.get() : loadAlone(key, valueLoader);
    }
    try {
      return (T) cache.get(key, k -> valueLoader.call());
    } catch (LoadFailedException e) {
      throw new ValueRetrievalException(key, valueLoader, causeOf(e));
    } catch (FillTimeoutException | TooManyLoadsException e) {
      throw new ValueRetrievalException(key, valueLoader, e);
    }
  }

  private static <T> @Nullable T loadAlone(Object key, Callable<T> valueLoader) {
    try {
      return valueLoader.call();
    } catch (Exception e) {
      throw new ValueRetrievalException(key, valueLoader, e);
    }
  }

  /** What the loader threw, here or for another caller; else why there is no value. */
  private static Throwable causeOf(LoadFailedException e) {
    Throwable cause = e.getCause();
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause == null ? e : cause;
  }

  /**
   * Returns what is fresh. Who looks has no loader for us, so a stale value would never be
   * refreshed.
   */
  private @Nullable ValueWrapper look(Object key) {
    try {
      return wrapped(cache.lookup(key));
    } catch (StoreException e) {
      return null;
    }
  }

  private static @Nullable ValueWrapper wrapped(Lookup<Object> found) {
    return found.isMissing() || found.stale() ? null : new SimpleValueWrapper(found.value());
  }

  @Override
  public @Nullable CompletableFuture<?> retrieve(Object key) {
    if (isTouched(key)) {
      return null;
    }
    return cache
        .lookupAsync(key)
        .handle(
            (found, failure) -> {
              if (failure == null) {
                return wrapped(found);
              }
              if (unwrapped(failure) instanceof StoreException) {
                return null;
              }
              throw new CompletionException(unwrapped(failure));
            });
  }

  @Override
  @SuppressWarnings("unchecked") // the caller knows what its loader returns
  public <T> CompletableFuture<T> retrieve(Object key, Supplier<CompletableFuture<T>> valueLoader) {
    if (transactionAware && !reads.mayBeStored(getName())) {
      ValueWrapper found = get(key);
      return found != null ? CompletableFuture.completedFuture((T) found.get()) : valueLoader.get();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    CompletableFuture<Object> loaded =
        cache.getAsync(key, Loader.async(k -> (CompletableFuture<Object>) valueLoader.get()));
    // Completed by hand, because a dependent stage would wrap the failure.
    var unused =
        loaded.whenComplete(
            (value, failure) -> {
              if (failure == null) {
                result.complete((T) value);
              } else {
                Throwable what = unwrapped(failure);
                result.completeExceptionally(
                    what instanceof LoadFailedException failed ? causeOf(failed) : what);
              }
            });
    var unused2 =
        result.whenComplete(
            (value, failure) -> {
              if (result.isCancelled()) {
                loaded.cancel(false);
              }
            });
    return result;
  }

  private static Throwable unwrapped(Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }

  @Override
  public void put(Object key, @Nullable Object value) {
    if (defers()) {
      CacheTransaction.begin()
          .afterCommit(
              getName(),
              key,
              () -> {
                try {
                  cache.put(key, value);
                } catch (RuntimeException e) {
                  errors.get().handleCachePutError(e, this, key, value);
                }
              });
    } else {
      cache.put(key, value);
    }
  }

  /** At once also inside a transaction, as with Spring's other caches: its answer is the point. */
  @Override
  public @Nullable ValueWrapper putIfAbsent(Object key, @Nullable Object value) {
    AtomicBoolean stored = new AtomicBoolean();
    Object found =
        cache.get(
            key,
            k -> {
              stored.set(true);
              return value;
            },
            freshOnly);
    return stored.get() ? null : new SimpleValueWrapper(found);
  }

  @Override
  public void evict(Object key) {
    if (defers()) {
      evictAfterCommit(key);
    } else {
      cache.invalidate(key);
    }
  }

  private void evictAfterCommit(Object key) {
    CacheTransaction.begin()
        .afterCommit(
            getName(),
            key,
            () -> {
              try {
                cache.invalidate(key);
              } catch (RuntimeException e) {
                errors.get().handleCacheEvictError(e, this, key);
              }
            });
  }

  /** At once, and once more after the commit: others may load the old value until then. */
  @Override
  public boolean evictIfPresent(Object key) {
    boolean present = look(key) != null;
    if (defers()) {
      evictAfterCommit(key);
    }
    cache.invalidate(key);
    return present;
  }

  @Override
  public void clear() {
    if (defers()) {
      clearAfterCommit();
    } else {
      cache.clear();
    }
  }

  private void clearAfterCommit() {
    CacheTransaction.begin()
        .afterCommit(
            getName(),
            null,
            () -> {
              try {
                cache.clear();
              } catch (RuntimeException e) {
                errors.get().handleCacheClearError(e, this);
              }
            });
  }

  /** At once, and once more after the commit, as {@link #evictIfPresent}. */
  @Override
  public boolean invalidate() {
    if (defers()) {
      clearAfterCommit();
    }
    cache.clear();
    // Whether there was anything is not known, which is said so.
    return false;
  }

  private boolean defers() {
    return transactionAware && CacheTransaction.isActive();
  }

  /** Whether the calling thread's transaction has changed what this key stands for. */
  private boolean isTouched(Object key) {
    if (!transactionAware) {
      return false;
    }
    CacheTransaction changes = CacheTransaction.current();
    return changes != null && changes.hasTouched(getName(), key);
  }

  @Override
  public String toString() {
    return "SpringCache[" + getName() + "]";
  }
}
