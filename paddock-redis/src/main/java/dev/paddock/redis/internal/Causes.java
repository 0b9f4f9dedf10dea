/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.internal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Why something failed, as far as exceptions tell. */
public final class Causes {
  private Causes() {}

  /**
   * Lists a failure and what caused it, the failure first; then what its parts have suppressed,
   * with causes. A client that tries all addresses of a name, or asks all nodes for a topology,
   * suppresses all failures but one.
   *
   * @param failed the failure
   * @return each once
   */
  public static List<Throwable> of(Throwable failed) {
    List<Throwable> chain = new ArrayList<>();
    addCauses(failed, chain);
    for (Throwable each : List.copyOf(chain)) {
      for (Throwable suppressed : each.getSuppressed()) {
        addCauses(suppressed, chain);
      }
    }
    return chain;
  }

  private static void addCauses(Throwable first, List<Throwable> chain) {
    for (Throwable each = first; each != null && !chain.contains(each); each = each.getCause()) {
      chain.add(each);
    }
  }

  /**
   * Finds the first failure of a type.
   *
   * @param <T> the type
   * @param chain the failures
   * @param type the type
   * @return the failure; null if there is none
   */
  public static <T extends Throwable> @Nullable T first(List<Throwable> chain, Class<T> type) {
    for (Throwable each : chain) {
      if (type.isInstance(each)) {
        return type.cast(each);
      }
    }
    return null;
  }
}
