/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Chooses among what is found on the class path. */
final class Providers {
  private Providers() {}

  /**
   * Returns the one that accepts a URI, null if none does. The order of a class path is no choice
   * that anybody has made, so several are an error.
   *
   * @throws IllegalArgumentException if several accept it
   */
  static <P> @Nullable P only(Iterable<P> providers, Predicate<P> accepts, String uri) {
    List<P> all = new ArrayList<>();
    for (P provider : providers) {
      if (accepts.test(provider)) {
        all.add(provider);
      }
    }
    if (all.size() > 1) {
      throw new IllegalArgumentException(
          all.stream()
              .map(provider -> provider.getClass().getName())
              .sorted()
              .collect(
                  Collectors.joining(
                      " and ",
                      "several on the class path accept "
                          + uri.substring(0, uri.indexOf("://") + 3)
                          + ": ",
                      "; leave one module out, or name one in the code, such as"
                          + " store(LettuceRedis.connect(uri)) or"
                          + " store(JedisRedis.connect(uri))")));
    }
    return all.isEmpty() ? null : all.get(0);
  }
}
