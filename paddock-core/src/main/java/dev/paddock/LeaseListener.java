/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

/**
 * Is told what happens to the leases of a {@link LeaseLock}. Called on whatever thread it happens
 * on, never under a lock: it must be quick and must not block. What it throws is ignored, except
 * that it is reported once to the system logger. Where no listener is registered no event is even
 * made.
 */
@FunctionalInterface
public interface LeaseListener {
  /**
   * Takes an event.
   *
   * @param event what happened
   */
  void onEvent(LeaseEvent event);
}
