/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CallOptions;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.spi.StoreKey;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One key of a bulk read. To its flight a caller like any other; what it says goes to the read. */
final class BulkCall<K, V> extends Call<K, V> {
  private record Failed(Throwable why) {}

  private static final Object LEFT = new Object();

  private final BulkRead<K, V> read;

  /** A {@link Lookup}, what {@link Failed}, or {@link #LEFT}. */
  private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();

  private final AtomicBoolean loaded = new AtomicBoolean();

  BulkCall(
      BulkRead<K, V> read,
      K key,
      StoreKey storeKey,
      Loader<K, V> loader,
      CallOptions<K, V> options,
      long startNanos) {
    super(key, storeKey, loader, options, startNanos, false);
    this.read = read;
  }

  @Override
  boolean execute(Step step) {
    return !isGone()
        && read.execute(
            new Step() {
              @Override
              public void run() {
                if (isGone()) {
                  step.dropped();
                } else {
                  step.run();
                }
              }

              @Override
              public void dropped() {
                step.dropped();
              }
            });
  }

  @Override
  void answer(Lookup<V> result) {
    end(result);
  }

  @Override
  void fail(Throwable failure) {
    end(new Failed(failure));
  }

  private void end(Object how) {
    if (outcome.compareAndSet(null, how)) {
      loadDone();
      read.answered(this);
    }
  }

  @Override
  void loadDone() {
    if (loaded.compareAndSet(false, true)) {
      read.loaded();
    }
  }

  @Override
  void waits() {
    read.decided(this);
  }

  @Override
  Loader<K, V> backgroundLoader() {
    return read.backgroundLoader(this);
  }

  @Override
  boolean isGone() {
    return outcome.get() != null;
  }

  @Override
  boolean blocks() {
    return read.blocks();
  }

  /** The read has left without this key's outcome. */
  void leave() {
    outcome.compareAndSet(null, LEFT);
  }

  /** The value or absence; null if there is none. */
  @SuppressWarnings("unchecked") // Nothing else is put there.
  @Nullable Lookup<V> found() {
    return outcome.get() instanceof Lookup<?> lookup ? (Lookup<V>) lookup : null;
  }

  /** Why there is none; null if there is one. */
  @Nullable Throwable failure() {
    return outcome.get() instanceof Failed failed ? failed.why : null;
  }
}
