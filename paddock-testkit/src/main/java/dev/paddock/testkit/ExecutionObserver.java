/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import dev.paddock.redis.RedisReplyException;
import org.jspecify.annotations.Nullable;

/**
 * Sees what an {@link InMemoryRedis} executes for its clients, in the order of execution: for
 * checks that must not depend on what clients are told.
 *
 * @since 0.1.0
 */
public interface ExecutionObserver {
  /**
   * A request has arrived and is executed next. Runs on the thread that executes it, under no lock;
   * must not block.
   *
   * @param request the request
   */
  void before(RedisRequest request);

  /**
   * It has been executed.
   *
   * @param request the request
   * @param reply as the server gives it: {@code byte[]}, {@link String}, {@link Long}, a list of
   *     these, or null for nil or an error
   * @param error the error; null if there was none
   */
  void after(RedisRequest request, @Nullable Object reply, @Nullable RedisReplyException error);
}
