/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;

import io.lettuce.core.RedisURI;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads URIs without ever repeating them: an unencoded {@code /}, {@code ?}, {@code #} or {@code @}
 * in a password moves its rest into the path, the query, the fragment or the host, so no part of a
 * URI that did not parse is fit to be shown, and neither is the exception of the parser, whose
 * message holds all of it.
 */
final class RedisUris {
  private static final String ADVICE =
      "; write redis://user:password@host:6379/0 (rediss:// for TLS) and percent-encode special"
          + " characters of user and password. With Sentinels:"
          + " redis-sentinel://user:password@host1:26379,host2:26379/0#name-of-the-primary";

  /** Host names (with underscores, which container networks like), IPv4, and IPv6 in brackets. */
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.%a-z]+]");

  private static final Pattern NAME_AND_PORT = Pattern.compile("([A-Za-z0-9._-]+):([0-9]{1,5})");

  private static final Set<String> PARAMETERS =
      Set.of("clientname", "libraryname", "libraryversion", "verifypeer");

  private static final String SENTINEL_SCHEME = "redis-sentinel://";
  private static final String SENTINEL_TLS_SCHEME = "rediss-sentinel://";
  private static final String PRIMARY_PARAMETER = "sentinelmasterid";

  /** What Sentinel itself allows. */
  private static final Pattern PRIMARY_NAME = Pattern.compile("[A-Za-z0-9._-]+");

  private RedisUris() {}

  static boolean hasOurScheme(String uri) {
    return uri.regionMatches(true, 0, "redis://", 0, 8)
        || uri.regionMatches(true, 0, "rediss://", 0, 9)
        || hasSentinelScheme(uri);
  }

  private static boolean hasSentinelScheme(String uri) {
    return uri.regionMatches(true, 0, SENTINEL_SCHEME, 0, SENTINEL_SCHEME.length())
        || uri.regionMatches(true, 0, SENTINEL_TLS_SCHEME, 0, SENTINEL_TLS_SCHEME.length());
  }

  static RedisURI parse(String text) {
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
    RedisURI parsed;
    try {
      parsed = RedisURI.create(uri);
    } catch (RuntimeException e) {
      throw malformed("Lettuce does not accept it");
    }
    if (sentinel) {
      return checkedSentinels(parsed);
    }
    splitOffPort(parsed);
    String host = parsed.getHost();
    if (uri.getPort() == 0 || host == null || !HOST.matcher(host).matches()) {
      throw malformed("the host, or the port, is missing or malformed");
    }
    return checked(parsed);
  }

  /** Returns private copies of seed nodes, all with what the first one says but for the host. */
  static List<RedisURI> seeds(Collection<RedisURI> nodes) {
    List<RedisURI> seeds = new ArrayList<>();
    for (RedisURI node : nodes) {
      RedisURI own = checked(node);
      if (hasSentinels(own)) {
        throw new IllegalArgumentException("a node of a cluster is not named by Sentinels");
      }
      if (own.getDatabase() != 0) {
        throw new IllegalArgumentException("a cluster has only database 0");
      }
      RedisURI first = seeds.isEmpty() ? own : seeds.get(0);
      seeds.add(RedisURI.builder(first).withHost(own.getHost()).withPort(own.getPort()).build());
    }
    if (seeds.isEmpty()) {
      throw new IllegalArgumentException("no node of the cluster is named");
    }
    return List.copyOf(seeds);
  }

  /** Tells whether a URI names several nodes, as the seed nodes of a cluster. */
  static boolean isList(String text) {
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

  /** Reads {@code redis://user:password@host:6379,host:6379}: one URI for each host. */
  static List<RedisURI> parseAll(String text) {
    requireNonNull(text, "uri");
    if (!hasOurScheme(text) || hasSentinelScheme(text)) {
      throw malformed("it does not begin with redis:// or rediss://");
    }
    String hosts = authority(text);
    int end = end(text);
    String before = text.substring(0, end - hosts.length());
    List<RedisURI> all = new ArrayList<>();
    for (String host : hosts.split(",", -1)) {
      RedisURI uri = parse(before + host + text.substring(end));
      if (uri.getDatabase() != 0) {
        throw malformed("a cluster has only database 0");
      }
      all.add(uri);
    }
    return all;
  }

  private static RedisURI checkedSentinels(RedisURI parsed) {
    String name = parsed.getSentinelMasterId();
    if (name == null || !PRIMARY_NAME.matcher(name).matches()) {
      throw malformed("the name of the primary after '#' is missing or malformed");
    }
    for (RedisURI sentinel : parsed.getSentinels()) {
      String host = sentinel.getHost();
      if (sentinel.getPort() == 0 || host == null || !HOST.matcher(host).matches()) {
        throw malformed("the host, or the port, of a Sentinel is missing or malformed");
      }
    }
    return checked(parsed);
  }

  /**
   * For java.net.URI a name with an underscore is no host, and Lettuce then keeps the port on it.
   */
  private static void splitOffPort(RedisURI uri) {
    Matcher matcher = NAME_AND_PORT.matcher(String.valueOf(uri.getHost()));
    if (matcher.matches()) {
      uri.setHost(matcher.group(1));
      uri.setPort(Integer.parseInt(matcher.group(2)));
    }
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

  private static IllegalArgumentException malformed(String what) {
    return new IllegalArgumentException("malformed Redis URI: " + what + ADVICE);
  }

  /** Returns a private copy of a URI that we can connect to: RedisURI is mutable. */
  static RedisURI checked(RedisURI uri) {
    requireNonNull(uri, "uri");
    if (uri.getSentinels().isEmpty() && uri.getSentinelMasterId() == null) {
      checkHost(uri, "the RedisURI");
      return copy(uri, uri.getTimeout());
    }
    String name = uri.getSentinelMasterId();
    if (uri.getSentinels().isEmpty() || name == null || name.isEmpty()) {
      throw new IllegalArgumentException(
          "the RedisURI must name both Sentinels and the primary they watch over, or neither");
    }
    if (uri.getHost() != null || uri.getSocket() != null) {
      throw new IllegalArgumentException("the RedisURI names both a server and Sentinels");
    }
    for (RedisURI sentinel : uri.getSentinels()) {
      checkHost(sentinel, "the RedisURI of a Sentinel");
    }
    return copy(uri, uri.getTimeout());
  }

  private static void checkHost(RedisURI uri, String what) {
    if (uri.getSocket() != null || uri.getHost() == null || uri.getHost().isEmpty()) {
      throw new IllegalArgumentException(what + " names no host");
    }
    if (uri.getPort() < 1 || uri.getPort() > 65535) {
      throw new IllegalArgumentException(
          "the port of " + what + " must be between 1 and 65535, is " + uri.getPort());
    }
  }

  static boolean hasSentinels(RedisURI uri) {
    return !uri.getSentinels().isEmpty();
  }

  /** Returns a copy with another time-out, which Lettuce applies to the handshake. */
  static RedisURI copy(RedisURI uri, Duration timeout) {
    RedisURI.Builder builder = RedisURI.builder(uri).withTimeout(timeout);
    if (!hasSentinels(uri)) {
      return builder.build();
    }
    // The builder copies no Sentinels, and gives the primary's TLS settings to those that it is
    // told.
    List<RedisURI> sentinels =
        uri.getSentinels().stream().map(sentinel -> copy(sentinel, timeout)).toList();
    RedisURI copy =
        builder
            .withSentinel(RedisURI.create(uri.getSentinels().get(0).getHost(), 1))
            .withSentinelMasterId(uri.getSentinelMasterId())
            .build();
    copy.getSentinels().clear();
    copy.getSentinels().addAll(sentinels);
    return copy;
  }

  /**
   * Returns how long each step of connecting may take, so that one Sentinel that hangs does not use
   * up the time of the others and of the primary.
   */
  static Duration step(RedisURI uri, Duration connectTimeout) {
    return connectTimeout.dividedBy(uri.getSentinels().size() + 1L);
  }

  static String address(RedisURI uri) {
    if (hasSentinels(uri)) {
      return uri.getSentinelMasterId()
          + " of the Sentinels "
          + uri.getSentinels().stream().map(RedisUris::address).collect(Collectors.joining(","));
    }
    return address(uri.getHost(), uri.getPort());
  }

  static String address(String host, int port) {
    boolean bareIpv6 = host.indexOf(':') >= 0 && !host.startsWith("[");
    return (bareIpv6 ? "[" + host + "]" : host) + ":" + port;
  }
}
