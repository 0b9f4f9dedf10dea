/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import dev.paddock.spi.Environment;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An environment whose wall clock is wrong and whose monotonic clock has another origin: a second
 * machine, beside the one whose environment it is made of. All else is that environment's.
 *
 * <p>Thread-safe. {@link #close()} does nothing: the other environment may be in use.
 *
 * @since 0.1.0
 */
public final class SkewedEnvironment implements Environment {
  private final Environment base;
  private final long nanoShift;
  private final AtomicLong wallOffsetMillis;

  /**
   * Makes one.
   *
   * @param base the environment beside it
   * @param wallOffset how far its wall clock is ahead; negative for behind
   */
  public SkewedEnvironment(Environment base, Duration wallOffset) {
    this.base = requireNonNull(base, "base");
    this.nanoShift = base.randomLong();
    this.wallOffsetMillis = new AtomicLong(wallOffset.toMillis());
  }

  /**
   * Steps its wall clock.
   *
   * @param by how far; negative for backwards
   */
  public void stepWall(Duration by) {
    wallOffsetMillis.addAndGet(by.toMillis());
  }

  Environment base() {
    return base;
  }

  @Override
  public long nanoTime() {
    return base.nanoTime() + nanoShift;
  }

  @Override
  public long wallMillis() {
    return base.wallMillis() + wallOffsetMillis.get();
  }

  @Override
  public Timer schedule(Runnable task, long delayNanos) {
    return base.schedule(task, delayNanos);
  }

  @Override
  public Executor executor() {
    return base.executor();
  }

  @Override
  public long randomLong() {
    return base.randomLong();
  }

  /** Does nothing. */
  @Override
  public void close() {}
}
