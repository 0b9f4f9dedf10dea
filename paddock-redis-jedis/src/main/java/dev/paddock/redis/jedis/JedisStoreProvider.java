/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreProvider;

/**
 * Opens {@code redis://}, {@code rediss://}, {@code redis-sentinel://} and {@code
 * rediss-sentinel://} URIs for {@link dev.paddock.Paddock#connect(String)}, as {@link
 * JedisRedis#connect(String)} does. Stateless.
 */
public final class JedisStoreProvider implements StoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public JedisStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return RedisUriText.hasOurScheme(uri);
  }

  @Override
  public StoreFactory factory(String uri) {
    return JedisRedis.connect(uri);
  }
}
