/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the password out of exceptions that others made: a server (or a proxy in front of it) that
 * does not know HELLO or AUTH answers with the arguments, password included, and Lettuce carries
 * that answer along as a message, a cause or a suppressed exception.
 *
 * <p>Passwords that an application's credentials provider hands out later are not known here.
 */
final class Secrets {
  static final String HIDDEN = "the reason is not shown, because its text holds the password";

  private final @Nullable String password;

  private Secrets(@Nullable String password) {
    this.password = password;
  }

  /** Knows no password: an application's client keeps its own. */
  static Secrets unknown() {
    return new Secrets(null);
  }

  /** Knows the password that the URI has by now, as far as its provider gives it at once. */
  static Secrets of(RedisURI uri) {
    RedisCredentials credentials = null;
    try {
      credentials = uri.getCredentialsProvider().resolveCredentials().toFuture().getNow(null);
    } catch (RuntimeException e) {
      // Connecting will fail with it; what is not known can't be hidden.
      return new Secrets(null);
    }
    return new Secrets(
        credentials != null && credentials.hasPassword()
            ? new String(credentials.getPassword())
            : null);
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
    return text != null && password != null && !password.isEmpty() && text.contains(password);
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
