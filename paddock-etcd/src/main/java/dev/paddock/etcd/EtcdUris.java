/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads URIs without ever repeating them: an unencoded {@code @} or {@code /} in a password moves
 * its rest into the hosts, so no part of a URI that did not parse is fit to be shown.
 */
final class EtcdUris {
  private static final String ADVICE =
      "; write etcd://user:password@host1:2379,host2:2379 (etcds:// for TLS) and percent-encode"
          + " special characters of user and password";
  private static final int PORT = 2379;

  /** Host names (with underscores, which container networks like), IPv4, and IPv6 in brackets. */
  private static final Pattern ENDPOINT =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::([0-9]{1,5}))?");

  private EtcdUris() {}

  /**
   * What a URI says.
   *
   * @param endpoints at least one, as jetcd wants them
   * @param user null without credentials
   * @param password null without credentials
   */
  record Parsed(
      boolean tls, List<URI> endpoints, @Nullable String user, @Nullable String password) {

    /** The endpoints alone: for messages. */
    @Override
    public String toString() {
      List<String> shown = new ArrayList<>();
      endpoints.forEach(endpoint -> shown.add(endpoint.getRawAuthority()));
      return String.join(",", shown);
    }
  }

  static boolean hasOurScheme(String uri) {
    return uri.regionMatches(true, 0, "etcd://", 0, 7)
        || uri.regionMatches(true, 0, "etcds://", 0, 8);
  }

  static Parsed parse(String uri) {
    requireNonNull(uri, "uri");
    if (!hasOurScheme(uri)) {
      throw malformed("it does not begin with etcd:// or etcds://");
    }
    int colon = uri.indexOf(':');
    boolean tls = uri.substring(0, colon).toLowerCase(Locale.ROOT).equals("etcds");
    String rest = uri.substring(colon + 3);
    if (rest.endsWith("/")) {
      rest = rest.substring(0, rest.length() - 1);
    }
    String user = null;
    String password = null;
    int at = rest.lastIndexOf('@');
    if (at >= 0) {
      int separator = rest.indexOf(':');
      if (separator <= 0 || separator > at) {
        throw malformed("what stands before the '@' is not user:password");
      }
      user = decoded(rest.substring(0, separator));
      password = decoded(rest.substring(separator + 1, at));
      rest = rest.substring(at + 1);
    }
    List<URI> endpoints = new ArrayList<>();
    for (String each : rest.split(",", -1)) {
      Matcher matcher = ENDPOINT.matcher(each);
      if (!matcher.matches()) {
        throw malformed("a host, or its port, is missing or malformed");
      }
      String digits = matcher.group(2);
      int port = digits == null ? PORT : Integer.parseInt(digits);
      if (port < 1 || port > 65_535) {
        throw malformed("a port is not between 1 and 65535");
      }
      URI endpoint = URI.create((tls ? "https://" : "http://") + matcher.group(1) + ":" + port);
      if (endpoint.getHost() == null) {
        throw malformed("a host is malformed");
      }
      endpoints.add(endpoint);
    }
    return new Parsed(tls, List.copyOf(endpoints), user, password);
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
    return new IllegalArgumentException("malformed etcd URI: " + what + ADVICE);
  }
}
