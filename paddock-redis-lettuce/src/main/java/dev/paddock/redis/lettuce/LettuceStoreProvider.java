/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreProvider;

/**
 * Opens {@code redis://}, {@code rediss://}, {@code redis-sentinel://} and {@code
 * rediss-sentinel://} URIs for {@link dev.paddock.Paddock#connect(String)}, as {@link
 * LettuceRedis#connect(String)} does. Stateless.
 */
public final class LettuceStoreProvider implements StoreProvider {
  /** For {@link java.util.ServiceLoader}. */
  public LettuceStoreProvider() {}

  @Override
  public boolean accepts(String uri) {
    return RedisUriText.hasOurScheme(uri);
  }

  @Override
  public StoreFactory factory(String uri) {
    return LettuceRedis.connect(uri);
  }
}
