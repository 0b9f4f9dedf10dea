/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.PaddockListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Hands events to the listeners. A listener that throws changes nothing but a line in the log. */
final class Events {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private final List<PaddockListener> listeners;
  private final AtomicBoolean reported = new AtomicBoolean();

  Events(List<PaddockListener> listeners) {
    this.listeners = listeners;
  }

  /** Tells whether anybody listens; events are made only if so. */
  boolean on() {
    return !listeners.isEmpty();
  }

  void emit(CacheEvent event) {
    for (PaddockListener listener : listeners) {
      try {
        listener.onEvent(event);
      } catch (RuntimeException | Error e) {
        if (reported.compareAndSet(false, true)) {
          LOGGER.log(
              System.Logger.Level.WARNING,
              "listener "
                  + listener.getClass().getName()
                  + " threw; this is reported once, and the event goes to the other listeners",
              e);
        }
      }
    }
  }
}
