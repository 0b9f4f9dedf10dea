/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.spi.Environment;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/** Time stands still, timers never fire, and the executor is whoever submits. */
final class StillEnvironment implements Environment {
  private final AtomicLong random = new AtomicLong(1);

  @Override
  public long nanoTime() {
    return 1;
  }

  @Override
  public long wallMillis() {
    return 1;
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    return () -> {};
  }

  @Override
  public Executor executor() {
    return Runnable::run;
  }

  @Override
  public long randomLong() {
    return random.getAndIncrement();
  }

  @Override
  public void close() {}
}
