/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static dev.paddock.redis.internal.RedisUriText.malformed;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.paddock.redis.internal.RedisUriText;
import dev.paddock.redis.internal.Secrets;
import java.net.URI;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisCredentials;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;

/**
 * What to connect to.
 *
 * @param hosts one server, or Sentinels, or some nodes of a cluster
 * @param primary what Sentinels call the primary; null without Sentinels
 * @param cluster whether the hosts are nodes of a cluster
 * @param config how to connect to a server; its time-outs do not count
 * @param sentinels how to connect to Sentinels
 */
record Target(
    List<HostAndPort> hosts,
    @Nullable String primary,
    boolean cluster,
    JedisClientConfig config,
    JedisClientConfig sentinels) {
  private static final int SERVER_PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  Target {
    hosts = List.copyOf(hosts);
  }

  static Target parse(String text) {
    if (!RedisUriText.isList(text)) {
      return one(text);
    }
    List<HostAndPort> nodes = new ArrayList<>();
    Target first = null;
    for (String each : RedisUriText.nodes(text)) {
      Target node = one(each);
      first = first == null ? node : first;
      nodes.addAll(node.hosts);
    }
    if (first == null || first.config.getDatabase() != 0) {
      throw malformed("a cluster has only database 0");
    }
    return new Target(nodes, null, true, first.config, first.sentinels);
  }

  private static Target one(String text) {
    URI uri = RedisUriText.parts(text);
    boolean withSentinels = RedisUriText.hasSentinelScheme(text);
    String authority = uri.getRawAuthority();
    if (authority == null) {
      throw malformed("the host, or the port, is missing or malformed");
    }
    int at = authority.lastIndexOf('@');
    DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder();
    if (at >= 0) {
      credentials(authority.substring(0, at), config);
    }
    String path = uri.getRawPath();
    if (path.length() > 1) {
      config.database(Integer.parseInt(path.substring(1)));
    }
    DefaultJedisClientConfig.Builder sentinels = DefaultJedisClientConfig.builder();
    String scheme = String.valueOf(uri.getScheme());
    boolean tls = scheme.startsWith("rediss");
    SslVerifyMode verification = SslVerifyMode.FULL;
    String primary = uri.getFragment();
    for (String parameter : split(uri.getRawQuery())) {
      int equals = parameter.indexOf('=');
      String value = equals < 0 ? "" : decoded(parameter.substring(equals + 1));
      switch (parameter.substring(0, Math.max(0, equals)).toLowerCase(Locale.ROOT)) {
        case "clientname" -> config.clientName(value);
        case "verifypeer" -> verification = verification(value);
        case "sentinelmasterid" -> primary = value;
        default -> throw malformed("Jedis itself says which library it is");
      }
    }
    if (tls) {
      SslOptions options = SslOptions.builder().sslVerifyMode(verification).build();
      config.sslOptions(options);
      sentinels.sslOptions(options);
    }
    List<HostAndPort> hosts = new ArrayList<>();
    for (String host : authority.substring(at + 1).split(",", -1)) {
      hosts.add(host(host, withSentinels ? SENTINEL_PORT : SERVER_PORT));
    }
    if (!withSentinels) {
      return new Target(hosts, null, false, config.build(), sentinels.build());
    }
    if (primary == null || !RedisUriText.PRIMARY_NAME.matcher(primary).matches()) {
      throw malformed("the name of the primary after '#' is missing or malformed");
    }
    return new Target(hosts, primary, false, config.build(), sentinels.build());
  }

  private static List<String> split(@Nullable String query) {
    return query == null ? List.of() : List.of(query.split("[&;]", -1));
  }

  private static SslVerifyMode verification(String value) {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "full", "true" -> SslVerifyMode.FULL;
      case "ca" -> SslVerifyMode.CA;
      case "none", "false" -> SslVerifyMode.INSECURE;
      default -> throw malformed("verifyPeer is none of FULL, CA, NONE");
    };
  }

  private static void credentials(String userInfo, DefaultJedisClientConfig.Builder config) {
    int colon = userInfo.indexOf(':');
    if (colon > 0) {
      config.user(decoded(userInfo.substring(0, colon)));
    }
    String password = decoded(userInfo.substring(colon + 1));
    if (!password.isEmpty()) {
      config.password(password);
    }
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    } catch (IllegalArgumentException e) {
      throw malformed("a '%' is not followed by two hexadecimal digits");
    }
  }

  private static HostAndPort host(String text, int defaultPort) {
    int colon = text.lastIndexOf(':');
    boolean hasPort = colon > text.lastIndexOf(']');
    String host = hasPort ? text.substring(0, colon) : text;
    String digits = hasPort ? text.substring(colon + 1) : "";
    int port = defaultPort;
    if (PORT.matcher(digits).matches()) {
      port = Integer.parseInt(digits);
    } else if (hasPort) {
      port = 0;
    }
    if (!RedisUriText.HOST.matcher(host).matches() || port < 1 || port > 65535) {
      throw malformed("the host, or the port, is missing or malformed");
    }
    return new HostAndPort(host, port);
  }

  /** Knows the passwords that there are by now. */
  Secrets secrets() {
    List<String> passwords = new ArrayList<>();
    collect(config, passwords);
    collect(sentinels, passwords);
    return Secrets.of(passwords);
  }

  private static void collect(JedisClientConfig config, Collection<String> passwords) {
    String password = config.getPassword();
    if (password != null) {
      passwords.add(password);
    }
    Supplier<RedisCredentials> provider = config.getCredentialsProvider();
    if (provider == null) {
      return;
    }
    try {
      RedisCredentials credentials = provider.get();
      if (credentials != null && credentials.getPassword() != null) {
        passwords.add(new String(credentials.getPassword()));
      }
    } catch (RuntimeException e) {
      // Connecting will fail with it; what is not known can't be hidden.
      return;
    }
  }

  /** Names the server, the Sentinels or the cluster, without credentials. */
  String description() {
    String list =
        hosts.stream()
            .map(host -> RedisUriText.address(host.getHost(), host.getPort()))
            .collect(Collectors.joining(","));
    if (primary != null) {
      return "Redis at " + primary + " of the Sentinels " + list;
    }
    return (cluster ? "the Redis Cluster at " : "Redis at ") + list;
  }

  @Override
  public String toString() {
    return description();
  }
}
