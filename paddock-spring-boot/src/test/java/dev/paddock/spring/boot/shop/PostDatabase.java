/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot.shop;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Repository;

/** A source that counts its queries where all processes can see it. */
@Repository
class PostDatabase {
  private final StringRedisTemplate counter;

  PostDatabase(StringRedisTemplate counter) {
    this.counter = counter;
  }

  Post findPost(long id) {
    counter.opsForValue().increment("queries");
    try {
      // A slow query, so that the others come while it runs.
      Thread.sleep(500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new Post(id, "post " + id);
  }

  void savePost(Post post) {
    counter.opsForValue().set("saved", post.title());
  }
}
