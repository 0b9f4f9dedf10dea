/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.CacheEvent;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseListener;
import dev.paddock.PaddockListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Hands events to the listeners. A listener that throws changes nothing but a line in the log. */
final class Events<E> {
  private static final System.Logger LOGGER = System.getLogger("dev.paddock");

  private final List<Told<E>> listeners;
  private final AtomicBoolean reported = new AtomicBoolean();

  /** A listener, and how it is told. */
  private record Told<E>(Object listener, Consumer<E> telling) {}

  private Events(List<Told<E>> listeners) {
    this.listeners = listeners;
  }

  static Events<CacheEvent> ofCaches(List<PaddockListener> listeners) {
    return new Events<>(
        listeners.stream()
            .map(listener -> new Told<CacheEvent>(listener, listener::onEvent))
            .toList());
  }

  static Events<LeaseEvent> ofLeases(List<LeaseListener> listeners) {
    return new Events<>(
        listeners.stream()
            .map(listener -> new Told<LeaseEvent>(listener, listener::onEvent))
            .toList());
  }

  /** Tells whether anybody listens; events are made only if so. */
  boolean on() {
    return !listeners.isEmpty();
  }

  void emit(E event) {
    for (Told<E> each : listeners) {
      try {
        each.telling().accept(event);
      } catch (RuntimeException | Error e) {
        if (reported.compareAndSet(false, true)) {
          LOGGER.log(
              System.Logger.Level.WARNING,
              "listener "
                  + each.listener().getClass().getName()
                  + " threw; this is reported once, and the event goes to the other listeners",
              e);
        }
      }
    }
  }
}
