/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * What a caller gets that is not the loader, has no stale value, and has waited for {@code maxWait}
 * or finds that a load failed a moment ago in another process.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public sealed interface Otherwise<K, V> {

  /**
   * Throw a {@link FillTimeoutException} (or, in a cool-down, a {@link LoadFailedException}) with
   * the time after which to try again. The default.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @return the choice
   */
  static <K, V> Otherwise<K, V> fail() {
    return new Fail<>();
  }

  /**
   * Return what a function says, which is not cached.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @param function gives the value, or null; runs on the caller's thread, or on the executor for
   *     an asynchronous call; what it throws reaches the caller
   * @return the choice
   */
  static <K, V> Otherwise<K, V> fallback(Fallback<? super K, ? extends V> function) {
    return new UseFallback<>(requireNonNull(function, "function"));
  }

  /**
   * Ask for the one degraded load that each lease allows in the whole fleet beside its holder. Who
   * does not get it fails as with {@link #fail()}.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   * @return the choice
   */
  static <K, V> Otherwise<K, V> loadDegraded() {
    return new LoadDegraded<>();
  }

  /**
   * A substitute for a value that did not come in time.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  @FunctionalInterface
  interface Fallback<K, V> {
    /**
     * Returns the substitute.
     *
     * @param key the key
     * @return the value, or null
     */
    @Nullable V apply(K key);
  }

  /**
   * See {@link Otherwise#fail()}.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  record Fail<K, V>() implements Otherwise<K, V> {}

  /**
   * See {@link Otherwise#fallback}.
   *
   * @param function gives the value
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  record UseFallback<K, V>(Fallback<? super K, ? extends V> function) implements Otherwise<K, V> {}

  /**
   * See {@link Otherwise#loadDegraded()}.
   *
   * @param <K> the type of the keys
   * @param <V> the type of the values
   */
  record LoadDegraded<K, V>() implements Otherwise<K, V> {}
}
