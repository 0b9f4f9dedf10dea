/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.spi.LeaseStoreFactory;
import dev.paddock.spi.LeaseStoreProvider;

/**
 * Opens {@code redis://}, {@code rediss://}, {@code redis-sentinel://} and {@code
 * rediss-sentinel://} URIs for {@link dev.paddock.LeaseLock#connect(String)}, as {@link
 * JedisRedis#connect(String)} does. Stateless.
 */
public final class JedisLeaseStoreProvider implements LeaseStoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public JedisLeaseStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return RedisUriText.hasOurScheme(uri);
  }

  @Override
  public LeaseStoreFactory factory(String uri) {
    return JedisRedis.connect(uri).leases();
  }
}
