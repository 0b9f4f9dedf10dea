/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads URIs without ever repeating them: an unencoded {@code /}, {@code ?}, {@code #} or {@code @}
 * in a password moves its rest into the path, the query, the fragment or the host, so no part of a
 * URI that did not parse is fit to be shown, and neither is the exception of the parser, whose
 * message holds all of it.
 *
 * <p>What a URI means to a client is for the transport to say; here is what all of them have in
 * common.
 */
public final class RedisUriText {
  private static final String ADVICE =
      "; write redis://user:password@host:6379/0 (rediss:// for TLS) and percent-encode special"
          + " characters of user and password. With Sentinels:"
          + " redis-sentinel://user:password@host1:26379,host2:26379/0#name-of-the-primary";

  /** Host names (with underscores, which container networks like), IPv4, and IPv6 in brackets. */
  public static final Pattern HOST = Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%a-z]+]");

  /** A host name and a port. */
  public static final Pattern NAME_AND_PORT = Pattern.compile("([A-Za-z0-9._-]+):([0-9]{1,5})");

  /** A name of a primary: what Sentinel itself allows. */
  public static final Pattern PRIMARY_NAME = Pattern.compile("[A-Za-z0-9._-]+");

  private static final Set<String> PARAMETERS =
      Set.of("clientname", "libraryname", "libraryversion", "verifypeer");

  private static final String SENTINEL_SCHEME = "redis-sentinel://";
  private static final String SENTINEL_TLS_SCHEME = "rediss-sentinel://";
  private static final String REDLOCK_SCHEME = "redlock://";
  private static final String REDLOCK_TLS_SCHEME = "redlocks://";
  private static final String PRIMARY_PARAMETER = "sentinelmasterid";

  private RedisUriText() {}

  /**
   * Tells whether a URI names a server, Sentinels, or nodes of a cluster.
   *
   * @return true for the schemes of {@link dev.paddock.Paddock#connect}
   */
  public static boolean hasOurScheme(String uri) {
    return uri.regionMatches(true, 0, "redis://", 0, 8)
        || uri.regionMatches(true, 0, "rediss://", 0, 9)
        || hasSentinelScheme(uri);
  }

  /**
   * Tells whether a URI names Sentinels.
   *
   * @return true for {@code redis-sentinel://} and {@code rediss-sentinel://}
   */
  public static boolean hasSentinelScheme(String uri) {
    return uri.regionMatches(true, 0, SENTINEL_SCHEME, 0, SENTINEL_SCHEME.length())
        || uri.regionMatches(true, 0, SENTINEL_TLS_SCHEME, 0, SENTINEL_TLS_SCHEME.length());
  }

  /**
   * Tells whether a URI names the independent servers of a Redlock.
   *
   * @return true for {@code redlock://} and {@code redlocks://}
   */
  public static boolean hasRedlockScheme(String uri) {
    return uri.regionMatches(true, 0, REDLOCK_SCHEME, 0, REDLOCK_SCHEME.length())
        || hasRedlockTlsScheme(uri);
  }

  private static boolean hasRedlockTlsScheme(String uri) {
    return uri.regionMatches(true, 0, REDLOCK_TLS_SCHEME, 0, REDLOCK_TLS_SCHEME.length());
  }

  /**
   * Splits {@code redlock://user:password@host1:6379,host2:6379/0}, or {@code redlocks://} for TLS.
   *
   * @return one URI for each server, all with the same user, password, database and parameters
   * @throws IllegalArgumentException if the scheme is another
   */
  public static List<String> redlock(String text) {
    requireNonNull(text, "uri");
    if (!hasRedlockScheme(text)) {
      throw malformed("it does not begin with redlock:// or redlocks://");
    }
    return each(
        (hasRedlockTlsScheme(text) ? "rediss" : "redis") + text.substring(text.indexOf("://")));
  }

  /**
   * Splits {@code redis://user:password@host:6379,host:6379}.
   *
   * @return one URI for each node of the cluster
   * @throws IllegalArgumentException if the scheme is another
   */
  public static List<String> nodes(String text) {
    requireNonNull(text, "uri");
    if (!hasOurScheme(text) || hasSentinelScheme(text)) {
      throw malformed("it does not begin with redis:// or rediss://");
    }
    return each(text);
  }

  private static List<String> each(String text) {
    String hosts = authority(text);
    int end = end(text);
    String before = text.substring(0, end - hosts.length());
    List<String> all = new ArrayList<>();
    for (String host : hosts.split(",", -1)) {
      all.add(before + host + text.substring(end));
    }
    return all;
  }

  /**
   * Tells whether a URI names several nodes, as the seed nodes of a cluster.
   *
   * @return true if its hosts are a list, and no Sentinels
   */
  public static boolean isList(String text) {
    return hasOurScheme(text) && !hasSentinelScheme(text) && authority(text).indexOf(',') >= 0;
  }

  /** Hosts and ports: what is between the last {@code @} and the path or the query. */
  private static String authority(String text) {
    int from = text.indexOf("://") + 3;
    return text.substring(Math.max(from, text.lastIndexOf('@') + 1), end(text));
  }

  private static int end(String text) {
    int from = Math.max(text.indexOf("://") + 3, text.lastIndexOf('@') + 1);
    int end = from;
    while (end < text.length() && "/?#".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    return end;
  }

  /**
   * Reads the parts of a URI of one server, or of Sentinels, and checks scheme, path, fragment and
   * the names of the parameters; not the host.
   *
   * @return the parts, the scheme in lower case
   * @throws IllegalArgumentException if it is malformed
   */
  public static URI parts(String text) {
    requireNonNull(text, "uri");
    if (!hasOurScheme(text)) {
      throw malformed(
          "it does not begin with redis://, rediss://, redis-sentinel:// or rediss-sentinel://");
    }
    boolean sentinel = hasSentinelScheme(text);
    int slashes = text.indexOf("://");
    URI uri;
    try {
      uri = new URI(text.substring(0, slashes).toLowerCase(Locale.ROOT) + text.substring(slashes));
    } catch (URISyntaxException e) {
      throw malformed(e.getReason() + " at index " + e.getIndex());
    }
    if (!sentinel && uri.getRawFragment() != null) {
      throw malformed("it holds a '#'");
    }
    String path = uri.getRawPath();
    if (!path.isEmpty() && !path.equals("/") && !path.matches("/[0-9]{1,9}")) {
      throw malformed("what follows the host and a '/' is not the number of a database");
    }
    checkParameters(uri.getRawQuery(), sentinel);
    return uri;
  }

  private static void checkParameters(@Nullable String query, boolean sentinel) {
    if (query == null) {
      return;
    }
    for (String parameter : query.split("[&;]", -1)) {
      int equals = parameter.indexOf('=');
      String name = equals < 0 ? "" : parameter.substring(0, equals).toLowerCase(Locale.ROOT);
      if (name.equals("timeout")) {
        throw malformed("a timeout is set with connectTimeout and commandTimeout of Paddock");
      }
      if (!PARAMETERS.contains(name) && !(sentinel && name.equals(PRIMARY_PARAMETER))) {
        throw malformed("a parameter is none of clientName, verifyPeer");
      }
    }
  }

  /**
   * Makes the exception for a URI that can't be used.
   *
   * @param what what is wrong with it, without any part of it
   * @return the exception
   */
  public static IllegalArgumentException malformed(String what) {
    return new IllegalArgumentException("malformed Redis URI: " + what + ADVICE);
  }

  /**
   * Writes host and port.
   *
   * @return {@code host:port}, IPv6 addresses in brackets
   */
  public static String address(String host, int port) {
    boolean bareIpv6 = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bareIpv6 ? "[" + host + "]" : host) + ":" + port;
  }
}
