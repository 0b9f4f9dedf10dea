/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.spi.Environment;
import io.lettuce.core.resource.Delay;
import java.time.Duration;

/**
 * 10 milliseconds to one second, growing with the attempts, drawn at random, so that a fleet does
 * not come back all at once and each process still heals by itself soon.
 */
final class ReconnectDelay extends Delay {
  private static final long MIN_MILLIS = 10;
  private static final long MAX_MILLIS = 1_000;

  private final Environment environment;

  ReconnectDelay(Environment environment) {
    this.environment = environment;
  }

  @Override
  public Duration createDelay(long attempt) {
    long doublings = Math.max(0, Math.min(attempt, 10));
    long ceiling = Math.min(MAX_MILLIS, MIN_MILLIS << doublings);
    long spread = ceiling - MIN_MILLIS + 1;
    return Duration.ofMillis(MIN_MILLIS + Math.floorMod(environment.randomLong(), spread));
  }
}
