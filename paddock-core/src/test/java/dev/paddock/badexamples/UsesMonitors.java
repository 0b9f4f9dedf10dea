/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

// Never run.
@SuppressWarnings({"WaitNotInLoop", "NakedNotify"})
final class UsesMonitors {
  void waits(Object monitor) throws InterruptedException {
    monitor.wait();
  }

  void waitsForAWhile(Object monitor) throws InterruptedException {
    monitor.wait(1);
  }

  void wakesOne(Object monitor) {
    monitor.notify();
  }

  Runnable wakesAll(Object monitor) {
    return monitor::notifyAll;
  }
}
