/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import dev.paddock.Paddock;
import dev.paddock.redis.lettuce.LettuceRedis;
import io.lettuce.core.RedisURI;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where Redis is. What is wrong with that is said by Paddock, which never shows a password. */
final class RedisAddress {
  private static final Pattern NAME_AND_PORT = Pattern.compile("([A-Za-z0-9._-]+):([0-9]{1,5})");

  private RedisAddress() {}

  /**
   * Reads a URI in any form that Paddock takes.
   *
   * @param uri the text
   * @return the same for Lettuce: one URI of a server or with Sentinels, or one for each of several
   *     nodes of a cluster
   * @throws IllegalArgumentException if it is malformed; the message does not repeat it
   */
  static List<RedisURI> parse(String uri) {
    LettuceRedis.connect(uri);
    int scheme = uri.indexOf(':');
    String checked = uri.substring(0, scheme).toLowerCase(Locale.ROOT) + uri.substring(scheme);
    if (checked.substring(0, scheme).endsWith("-sentinel")) {
      return List.of(RedisURI.create(checked));
    }
    // What is wrong with it has been refused above: what is left to do is to find the commas.
    int from = Math.max(scheme + 3, checked.lastIndexOf('@') + 1);
    int to = from;
    while (to < checked.length() && "/?".indexOf(checked.charAt(to)) < 0) {
      to++;
    }
    String before = checked.substring(0, from);
    String after = checked.substring(to);
    return Arrays.stream(checked.substring(from, to).split(",", -1))
        .map(host -> one(before + host + after))
        .toList();
  }

  /**
   * Tells whether a URI names Sentinels, or several nodes of a cluster.
   *
   * @param uri a URI that {@link #parse} takes
   * @return true if so
   */
  static boolean isOfSeveral(String uri) {
    List<RedisURI> uris = parse(uri);
    return uris.size() > 1 || !uris.get(0).getSentinels().isEmpty();
  }

  private static RedisURI one(String uri) {
    RedisURI parsed = RedisURI.create(uri);
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
   * @param uri where
   * @throws dev.paddock.StoreException if Paddock can't use it; the message says why and what to do
   */
  static void check(String uri) {
    Paddock.connect(uri).close();
  }
}
