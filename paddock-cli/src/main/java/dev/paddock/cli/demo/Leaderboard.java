/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import java.util.List;

/**
 * What is cached: the most read posts.
 *
 * @param version which load made it, unique in the whole fleet
 * @param loadStartMicros when that load began, in microseconds since 1970
 * @param top the posts
 */
record Leaderboard(long version, long loadStartMicros, List<Post> top) {
  /**
   * One post.
   *
   * @param title its title
   * @param readers how many read it in the last hour
   */
  record Post(String title, int readers) {}
}
