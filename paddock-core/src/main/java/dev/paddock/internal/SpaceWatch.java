/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.ChangeListener;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.StoreKey;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Listens to the changes of one cache, from the first time that it is of use on. What is missed
 * meanwhile only costs time: near values end by themselves, and barriers are read again.
 */
final class SpaceWatch implements ChangeListener {
  private static final long RETRY_NANOS = 5_000_000_000L;

  private final Engine engine;
  private final byte[] space;
  private final @Nullable NearCache<?, ?> near;
  private final @Nullable Barriers barriers;
  private final AtomicBoolean started = new AtomicBoolean();

  SpaceWatch(
      Engine engine, byte[] space, @Nullable NearCache<?, ?> near, @Nullable Barriers barriers) {
    this.engine = engine;
    this.space = space;
    this.near = near;
    this.barriers = barriers;
  }

  /** Begins, the first time; never blocks. */
  void start() {
    if (!started.get() && started.compareAndSet(false, true)) {
      subscribe();
    }
  }

  private void subscribe() {
    if (engine.isClosed()) {
      return;
    }
    HintSubscription subscription = engine.gateway().store().watch(space, this);
    subscription
        .ready()
        .whenComplete(
            (yes, never) -> {
              if (Boolean.TRUE.equals(yes)) {
                // What happened before was not told.
                missed();
              } else {
                subscription.close();
                again();
              }
            });
  }

  private void again() {
    if (engine.isClosed()) {
      return;
    }
    try {
      engine.env().schedule(this::subscribe, RETRY_NANOS);
    } catch (RejectedExecutionException e) {
      // The environment is closing, and so is the store.
      return;
    }
  }

  @Override
  public void changed(StoreKey key) {
    if (near != null) {
      near.changed(key);
    }
  }

  @Override
  public void raised(String label, long barrierMillis) {
    if (barriers != null) {
      barriers.raised(label, barrierMillis);
    }
    // After the barrier is known, so that what is kept from here on was judged by it.
    if (near != null) {
      near.raised(label);
    }
  }

  @Override
  public void missed() {
    // Barriers are read again in any case.
    if (near != null) {
      near.clear();
    }
  }
}
