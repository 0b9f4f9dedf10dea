/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.docs;

import dev.paddock.Cache;
import dev.paddock.Paddock;
import dev.paddock.jackson.JacksonCodec;
import java.time.Duration;

/** The example of the README. */
public final class Quickstart {
  record Post(long id, String title) {}

  public static void main(String[] args) {
    try (Paddock paddock = Paddock.connect("redis://localhost:6379")) {
      Cache<Long, Post> posts =
          paddock
              .<Long, Post>cache("posts", JacksonCodec.of(Post.class))
              .serveStaleFor(Duration.ofMinutes(5))
              .build();
      System.out.println(posts.get(42L, id -> new Post(id, "loaded once in the fleet")));
    }
  }
}
