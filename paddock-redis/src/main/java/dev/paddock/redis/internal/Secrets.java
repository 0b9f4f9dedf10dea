/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Keeps passwords out of exceptions that others made: a server (or a proxy in front of it) that
 * does not know HELLO or AUTH answers with the arguments, password included, and the client carries
 * that answer along as a message, a cause or a suppressed exception.
 *
 * <p>Passwords that an application's credentials provider hands out later are not known here.
 */
public final class Secrets {
  /** Stands for a text that holds a password. */
  public static final String HIDDEN =
      "the reason is not shown, because its text holds the password";

  private final List<String> passwords;

  private Secrets(List<String> passwords) {
    this.passwords = passwords;
  }

  /**
   * Knows no password: an application's client keeps its own.
   *
   * @return what hides nothing
   */
  public static Secrets unknown() {
    return new Secrets(List.of());
  }

  /**
   * Knows these passwords.
   *
   * @param passwords empty ones do not count
   * @return what hides them
   */
  public static Secrets of(Collection<String> passwords) {
    return new Secrets(passwords.stream().filter(password -> !password.isEmpty()).toList());
  }

  /**
   * Returns the exception if nothing in it holds the password.
   *
   * @return the exception, or null
   */
  public @Nullable Throwable causeOrNull(Throwable thrown) {
    return leaks(thrown, Collections.newSetFromMap(new IdentityHashMap<>())) ? null : thrown;
  }

  /**
   * Returns what an exception says in one line, without the password.
   *
   * @return its type and message, or {@link #HIDDEN}
   */
  public String summary(Throwable thrown) {
    String message = thrown.getMessage();
    String text =
        thrown.getClass().getSimpleName()
            + (message == null || message.isEmpty() ? "" : ": " + message);
    return shown(text);
  }

  /**
   * Returns the text, or a remark in its place if it holds the password.
   *
   * @return the text, or {@link #HIDDEN}
   */
  public String shown(String text) {
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
