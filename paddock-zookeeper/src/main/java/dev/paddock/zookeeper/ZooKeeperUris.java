/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.util.Objects.requireNonNull;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads URIs without ever repeating them: an unencoded {@code @} or {@code /} in a password moves
 * its rest into the hosts, so no part of a URI that did not parse is fit to be shown.
 */
final class ZooKeeperUris {
  private static final String SCHEME = "zookeeper://";
  private static final String ADVICE =
      "; write zookeeper://user:password@host1:2181,host2:2181/path and percent-encode special"
          + " characters of user and password";
  private static final int PORT = 2181;

  /** Host names (with underscores, which container networks like), IPv4, and IPv6 in brackets. */
  private static final Pattern SERVER =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::([0-9]{1,5}))?");

  private static final Pattern PATH = Pattern.compile("(?:/[A-Za-z0-9._~-]+)*");

  private ZooKeeperUris() {}

  /**
   * What a URI says.
   *
   * @param servers as ZooKeeper wants them, without a path
   * @param path empty, or beginning and not ending with a slash
   * @param credentials {@code user:password}; null if there are none
   */
  record Parsed(String servers, String path, @Nullable String credentials) {
    /** The servers and the path alone: for messages. */
    @Override
    public String toString() {
      return servers + path;
    }
  }

  static boolean hasOurScheme(String uri) {
    return uri.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
  }

  static Parsed parse(String uri) {
    requireNonNull(uri, "uri");
    if (!hasOurScheme(uri)) {
      throw malformed("it does not begin with zookeeper://");
    }
    String rest = uri.substring(SCHEME.length());
    String credentials = null;
    int at = rest.lastIndexOf('@');
    if (at >= 0) {
      int separator = rest.indexOf(':');
      if (separator <= 0 || separator > at) {
        throw malformed("what stands before the '@' is not user:password");
      }
      credentials =
          decoded(rest.substring(0, separator)) + ":" + decoded(rest.substring(separator + 1, at));
      rest = rest.substring(at + 1);
    }
    int slash = rest.indexOf('/');
    String path = slash < 0 ? "" : rest.substring(slash);
    if (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    if (!PATH.matcher(path).matches()
        || List.of(path.split("/")).contains("..")
        || List.of(path.split("/")).contains(".")) {
      throw malformed("the path is malformed");
    }
    List<String> servers = new ArrayList<>();
    for (String each : (slash < 0 ? rest : rest.substring(0, slash)).split(",", -1)) {
      Matcher matcher = SERVER.matcher(each);
      if (!matcher.matches()) {
        throw malformed("a host, or its port, is missing or malformed");
      }
      String digits = matcher.group(2);
      int port = digits == null ? PORT : Integer.parseInt(digits);
      if (port < 1 || port > 65_535) {
        throw malformed("a port is not between 1 and 65535");
      }
      servers.add(matcher.group(1) + ":" + port);
    }
    return new Parsed(String.join(",", servers), path, credentials);
  }

  private static String decoded(String text) {
    try {
      // A plus sign is itself here.
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // Its message would hold a part of the password.
      throw malformed("user or password is not percent-encoded");
    }
  }

  private static IllegalArgumentException malformed(String what) {
    return new IllegalArgumentException("malformed ZooKeeper URI: " + what + ADVICE);
  }
}
