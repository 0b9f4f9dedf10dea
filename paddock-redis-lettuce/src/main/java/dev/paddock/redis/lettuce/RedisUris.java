/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.internal.RedisUriText.HOST;
import static dev.paddock.redis.internal.RedisUriText.NAME_AND_PORT;
import static dev.paddock.redis.internal.RedisUriText.PRIMARY_NAME;
import static dev.paddock.redis.internal.RedisUriText.malformed;
import static java.util.Objects.requireNonNull;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.stream.Collectors;

/** What the parts of a URI mean to Lettuce. No part of one is ever repeated in a message. */
final class RedisUris {
  private RedisUris() {}

  /**
   * Reads {@code redlock://user:password@host1:6379,host2:6379/0}, or {@code redlocks://} for TLS:
   * one URI for each server, all with the same user, password, database and parameters.
   */
  static List<RedisURI> parseRedlock(String text) {
    return RedisUriText.redlock(text).stream().map(RedisUris::parse).toList();
  }

  static RedisURI parse(String text) {
    URI uri = RedisUriText.parts(text);
    RedisURI parsed;
    try {
      parsed = RedisURI.create(uri);
    } catch (RuntimeException e) {
      throw malformed("Lettuce does not accept it");
    }
    if (RedisUriText.hasSentinelScheme(text)) {
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

  /** Reads {@code redis://user:password@host:6379,host:6379}: one URI for each host. */
  static List<RedisURI> parseAll(String text) {
    List<RedisURI> all = RedisUriText.nodes(text).stream().map(RedisUris::parse).toList();
    if (all.get(0).getDatabase() != 0) {
      throw malformed("a cluster has only database 0");
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

  /**
   * Knows the passwords that the URI and its Sentinels have by now, as far as their providers give
   * them at once.
   */
  static Secrets secrets(RedisURI uri) {
    List<String> passwords = new ArrayList<>();
    collect(uri, passwords);
    for (RedisURI sentinel : uri.getSentinels()) {
      collect(sentinel, passwords);
    }
    return Secrets.of(passwords);
  }

  private static void collect(RedisURI uri, List<String> passwords) {
    RedisCredentials credentials = null;
    try {
      credentials = uri.getCredentialsProvider().resolveCredentials().toFuture().getNow(null);
    } catch (RuntimeException e) {
      // Connecting will fail with it; what is not known can't be hidden.
      return;
    }
    if (credentials != null && credentials.hasPassword() && credentials.getPassword().length > 0) {
      passwords.add(new String(credentials.getPassword()));
    }
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
    return RedisUriText.address(uri.getHost(), uri.getPort());
  }
}
