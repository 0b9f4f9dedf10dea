/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps passwords out of exceptions that others made: a server (or a proxy in front of it) that
 * does not know HELLO or AUTH answers with the arguments, password included, and Lettuce carries
 * that answer along as a message, a cause or a suppressed exception.
 *
 * <p>Passwords that an application's credentials provider hands out later are not known here.
 */
final class Secrets {
  static final String HIDDEN = "the reason is not shown, because its text holds the password";

  private final List<String> passwords;

  private Secrets(List<String> passwords) {
    this.passwords = passwords;
  }

  /** Knows no password: an application's client keeps its own. */
  static Secrets unknown() {
    return new Secrets(List.of());
  }

  /**
   * Knows the passwords that the URI and its Sentinels have by now, as far as their providers give
   * them at once.
   */
  static Secrets of(RedisURI uri) {
    List<String> passwords = new ArrayList<>();
    collect(uri, passwords);
    for (RedisURI sentinel : uri.getSentinels()) {
      collect(sentinel, passwords);
    }
    return new Secrets(List.copyOf(passwords));
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

  /** Returns the exception if nothing in it holds the password, else null. */
  @Nullable Throwable causeOrNull(Throwable thrown) {
    return leaks(thrown, Collections.newSetFromMap(new IdentityHashMap<>())) ? null : thrown;
  }

  /** Returns what an exception says in one line, without the password. */
  String summary(Throwable thrown) {
    String message = thrown.getMessage();
    String text =
        thrown.getClass().getSimpleName()
            + (message == null || message.isEmpty() ? "" : ": " + message);
    return shown(text);
  }

  /** Returns the text, or a remark in its place if it holds the password. */
  String shown(String text) {
    return leaks(text) ? HIDDEN : text;
  }

  private boolean leaks(@Nullable String text) {
    return text != null && passwords.stream().anyMatch(text::contains);
  }

  private boolean leaks(@Nullable Throwable thrown, Set<Throwable> seen) {
    if (thrown == null || !seen.add(thrown)) {
      return false;
    }
    if (leaks(thrown.toString()) || leaks(thrown.getCause(), seen)) {
      return true;
    }
    for (Throwable suppressed : thrown.getSuppressed()) {
      if (leaks(suppressed, seen)) {
        return true;
      }
    }
    return false;
  }
}
