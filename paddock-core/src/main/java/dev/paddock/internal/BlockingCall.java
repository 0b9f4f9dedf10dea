/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CallOptions;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.spi.StoreKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The view of a caller that blocks. Its thread sits at a mailbox: it runs the steps that arrive,
 * its own loader among them, until there is an answer. Every wait is bounded by the engine's
 * timers.
 */
final class BlockingCall<K, V> extends Call<K, V> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition mail = lock.newCondition();
  private final ArrayDeque<Step> steps = new ArrayDeque<>(2);
  private @Nullable Lookup<V> result;
  private @Nullable Throwable failure;
  private boolean loaded;
  private volatile boolean gone;

  BlockingCall(
      K key,
      StoreKey storeKey,
      @Nullable Loader<K, V> loader,
      CallOptions<K, V> options,
      long startNanos) {
    super(key, storeKey, loader, options, startNanos, false);
  }

  @Override
  boolean execute(Step step) {
    lock.lock();
    try {
      if (gone) {
        return false;
      }
      steps.add(step);
      mail.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  void answer(Lookup<V> value) {
    end(value, null);
  }

  @Override
  void fail(Throwable error) {
    end(null, error);
  }

  private void end(@Nullable Lookup<V> value, @Nullable Throwable error) {
    lock.lock();
    try {
      if (!gone) {
        gone = true;
        result = value;
        failure = error;
        mail.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  void loadDone() {
    lock.lock();
    try {
      loaded = true;
    } finally {
      lock.unlock();
    }
  }

  @Override
  boolean isGone() {
    return gone;
  }

  @Override
  boolean blocks() {
    return true;
  }

  /**
   * Waits for the answer, running steps meanwhile.
   *
   * @throws PaddockInterruptedException if the thread is interrupted while it waits, and then no
   *     step will run any more
   */
  Lookup<V> await() {
    while (true) {
      Step step = next();
      if (step == null) {
        return outcome();
      }
      try {
        step.run();
      } catch (Error e) {
        // A loader's: its flight knows already, and here it goes on to the caller.
        gone = true;
        throw e;
      }
    }
  }

  private @Nullable Step next() {
    List<Step> left = null;
    boolean interrupted = false;
    lock.lock();
    try {
      while (true) {
        if (gone) {
          if (!steps.isEmpty()) {
            // A load that was handed over after the answer came must go to another caller.
            left = new ArrayList<>(steps);
            steps.clear();
          }
          return null;
        }
        Step step = steps.poll();
        if (step != null) {
          return step;
        }
        if (loaded) {
          mail.awaitUninterruptibly();
        } else {
          mail.await();
        }
      }
    } catch (InterruptedException e) {
      interrupted = true;
      if (!gone) {
        gone = true;
        failure =
            new PaddockInterruptedException("interrupted while waiting for " + storeKey, null);
      }
      left = new ArrayList<>(steps);
      steps.clear();
      return null;
    } finally {
      lock.unlock();
      if (left != null) {
        left.forEach(Step::dropped);
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Lookup<V> outcome() {
    Throwable error = failure;
    if (error instanceof Error e) {
      throw e;
    }
    if (error instanceof RuntimeException e) {
      throw e;
    }
    if (error != null) {
      throw new IllegalStateException(error);
    }
    Lookup<V> value = result;
    if (value == null) {
      throw new IllegalStateException("ended without an answer");
    }
    return value;
  }
}
