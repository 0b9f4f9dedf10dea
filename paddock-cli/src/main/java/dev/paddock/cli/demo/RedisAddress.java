/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.Paddock;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisURI;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where Redis is. What is wrong with that is said by Paddock, which never shows a password. */
final class RedisAddress {
  private static final Pattern NAME_AND_PORT = Pattern.compile("([A-Za-z0-9._-]+):([0-9]{1,5})");

  private RedisAddress() {}

  /**
   * Reads a URI.
   *
   * @param uri the text
   * @return the same for Lettuce
   * @throws IllegalArgumentException if it is malformed; the message does not repeat it
   */
  static RedisURI parse(String uri) {
    LettuceRedis.connect(uri);
    if (uri.indexOf(',') >= 0
        || uri.regionMatches(true, 0, "redis-", 0, 6)
        || uri.regionMatches(true, 0, "rediss-", 0, 7)) {
      throw new IllegalArgumentException(
          "the demo runs on one server, for its recipes know no Sentinels and no cluster");
    }
    int scheme = uri.indexOf(':');
    RedisURI parsed =
        RedisURI.create(uri.substring(0, scheme).toLowerCase(Locale.ROOT) + uri.substring(scheme));
    // Lettuce leaves the port on a host that has an underscore in its name.
    Matcher matcher = NAME_AND_PORT.matcher(String.valueOf(parsed.getHost()));
    if (matcher.matches()) {
      parsed.setHost(matcher.group(1));
      parsed.setPort(Integer.parseInt(matcher.group(2)));
    }
    return parsed;
  }

  /**
   * Connects once, as Paddock does.
   *
   * @param uri the server
   * @throws dev.paddock.StoreException if Paddock can't use it; the message says why and what to do
   */
  static void check(RedisURI uri) {
    Paddock.newBuilder().store(LettuceRedis.connect(uri)).build().close();
  }
}
