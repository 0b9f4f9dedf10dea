/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.LeaseStoreProvider;

/**
 * Opens {@code redis://}, {@code rediss://}, {@code redis-sentinel://} and {@code
 * rediss-sentinel://} URIs for {@link dev.paddock.LeaseLock#connect(String)}, as {@link
 * LettuceRedis#leases(String)} does, and {@code redlock://} and {@code redlocks://} URIs as {@link
 * LettuceRedis#redlock(String)} does. Stateless.
 */
public final class LettuceLeaseStoreProvider implements LeaseStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public LettuceLeaseStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return RedisUriText.hasOurScheme(uri) || RedisUriText.hasRedlockScheme(uri);
  }

  @Override
  public LeaseStoreFactory factory(String uri) {
    return RedisUriText.hasRedlockScheme(uri)
        ? LettuceRedis.redlock(uri)
        : LettuceRedis.leases(uri);
  }
}
