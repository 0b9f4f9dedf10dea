/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot.shop;

import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** As an application would have it. */
@Service
class Posts {
  private final PostDatabase database;

  Posts(PostDatabase database) {
    this.database = database;
  }

  @Cacheable("posts")
  public Post find(long id) {
    return database.findPost(id);
  }

  @Transactional
  @CacheEvict(cacheNames = "posts", key = "#post.id")
  public void save(Post post) {
    database.savePost(post);
  }
}
