/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What one transaction of Spring has changed in caches and will only tell them once it has
 * committed. Bound to the transaction's thread, as Spring's synchronizations are; a transaction
 * that is suspended takes it along.
 */
final class CacheTransaction implements TransactionSynchronization, Ordered {
  private final Map<Change, Runnable> pending = new LinkedHashMap<>();

  /** Caches that have been cleared, and keys that have been changed: kept until the end. */
  private final Set<Change> touched = new HashSet<>();

  private CacheTransaction() {}

  /** Tells whether the calling thread is in a transaction that synchronizations can follow. */
  static boolean isActive() {
    return TransactionSynchronizationManager.isSynchronizationActive()
        && TransactionSynchronizationManager.isActualTransactionActive();
  }

  /** Returns what the calling thread's transaction has changed so far. */
  static @Nullable CacheTransaction current() {
    if (!isActive()) {
      return null;
    }
    for (TransactionSynchronization each :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (each instanceof CacheTransaction found) {
        return found;
      }
    }
    return null;
  }

  /** Returns the same, for a change that is about to come. */
  static CacheTransaction begin() {
    CacheTransaction found = current();
    if (found == null) {
      found = new CacheTransaction();
      TransactionSynchronizationManager.registerSynchronization(found);
    }
    return found;
  }

  /**
   * Does something to a cache after the commit.
   *
   * @param cache the name of the cache
   * @param key the key; null for the whole cache
   * @param action does it, and handles its errors as Spring's cache does; may throw
   */
  void afterCommit(String cache, @Nullable Object key, Runnable action) {
    Change change = new Change(cache, key);
    touched.add(change);
    if (key == null) {
      pending.keySet().removeIf(each -> each.cache.equals(cache));
    } else {
      // The last one counts, at its own place in the order.
      pending.remove(change);
    }
    pending.put(change, action);
  }

  boolean hasTouched(String cache, Object key) {
    return touched.contains(new Change(cache, key)) || touched.contains(new Change(cache, null));
  }

  boolean hasTouchedAnything() {
    return !touched.isEmpty();
  }

  @Override
  public void afterCommit() {
    run();
  }

  @Override
  public void afterCompletion(int status) {
    // What was asked for by those who are told of the commit before or after this.
    if (status == STATUS_COMMITTED) {
      run();
    }
    pending.clear();
  }

  /** All are tried, also when one fails: each is about other keys. */
  private void run() {
    List<Runnable> actions = new ArrayList<>(pending.values());
    pending.clear();
    RuntimeException failure = null;
    for (Runnable action : actions) {
      try {
        action.run();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public int getOrder() {
    // Before the application's own, which may read.
    return Ordered.HIGHEST_PRECEDENCE + 1_000;
  }

  private record Change(String cache, @Nullable Object key) {}
}
