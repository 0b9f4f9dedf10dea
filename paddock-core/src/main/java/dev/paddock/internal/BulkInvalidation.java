/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import dev.paddock.PaddockClosedException;
import dev.paddock.StoreException;
import dev.paddock.spi.StoreKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Invalidates several keys, chunk by chunk, each chunk in one pipeline. */
final class BulkInvalidation {
  private static final int SUPPRESSED_MAX = 8;

  private final String cache;
  private final List<StoreKey> keys;
  private final int limit;
  private final Function<StoreKey, CompletableFuture<@Nullable Void>> one;
  private final CompletableFuture<@Nullable Void> done = new CompletableFuture<>();

  /** Touched by one chunk at a time. */
  private final List<Throwable> failures = new ArrayList<>();

  /**
   * Makes one that has not begun.
   *
   * @param keys no two the same
   * @param limit how many are under way at most
   * @param one invalidates one key, and completes on the executor
   */
  BulkInvalidation(
      String cache,
      List<StoreKey> keys,
      int limit,
      Function<StoreKey, CompletableFuture<@Nullable Void>> one) {
    this.cache = cache;
    this.keys = keys;
    this.limit = limit;
    this.one = one;
  }

  CompletableFuture<@Nullable Void> begin() {
    send(0);
    return done;
  }

  private void send(int from) {
    List<CompletableFuture<@Nullable Void>> chunk = new ArrayList<>();
    int to = Math.min(keys.size(), from + limit);
    for (StoreKey key : keys.subList(from, to)) {
      chunk.add(one.apply(key));
    }
    CompletionStage<Void> all = CompletableFuture.allOf(chunk.toArray(CompletableFuture[]::new));
    all.whenComplete((nothing, failed) -> sent(chunk, to));
  }

  private void sent(List<CompletableFuture<@Nullable Void>> chunk, int to) {
    boolean closed = false;
    for (CompletableFuture<@Nullable Void> each : chunk) {
      CompletionStage<@Nullable Void> over = each;
      over.whenComplete(
          (nothing, failure) -> {
            if (failure != null) {
              failures.add(failure);
            }
          });
    }
    for (Throwable failure : failures) {
      closed |= failure instanceof PaddockClosedException;
    }
    if (closed) {
      done.completeExceptionally(
          new PaddockClosedException(
              "closed while invalidating " + keys.size() + " keys of cache " + cache));
    } else if (to < keys.size()) {
      send(to);
    } else if (failures.isEmpty()) {
      done.complete(null);
    } else {
      done.completeExceptionally(failure());
    }
  }

  private StoreException failure() {
    Throwable first = failures.get(0);
    StoreException all =
        new StoreException(
            "invalidating "
                + failures.size()
                + " of "
                + keys.size()
                + " keys of cache "
                + cache
                + " failed, the first of them as follows: "
                + first.getMessage(),
            first,
            failures.stream()
                .anyMatch(
                    each -> !(each instanceof StoreException known) || known.mayHaveHappened()));
    failures.stream().skip(1).limit(SUPPRESSED_MAX).forEach(all::addSuppressed);
    return all;
  }
}
