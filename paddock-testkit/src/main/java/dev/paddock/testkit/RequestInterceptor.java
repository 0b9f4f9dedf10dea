/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

/**
 * Decides the fate of each request to an {@link InMemoryRedis}.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface RequestInterceptor {
  /**
   * Decides. Runs on the thread that sends, under no lock; must not block.
   *
   * @param request the request
   * @return what becomes of it
   */
  RequestFate intercept(RedisRequest request);
}
