/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.badexamples;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;
import java.util.stream.Stream;

// Never run.
@SuppressWarnings("FutureReturnValueIgnored")
final class UsesTheCommonPool {
  Object supply() {
    return CompletableFuture.supplyAsync(() -> "");
  }

  void run() {
    CompletableFuture.runAsync(() -> {});
  }

  Object thenApply(CompletableFuture<String> future) {
    return future.thenApplyAsync(s -> s);
  }

  Object onStage(CompletionStage<String> stage) {
    return stage.whenCompleteAsync((s, e) -> {});
  }

  Supplier<CompletableFuture<String>> reference(Supplier<String> supplier) {
    return () -> CompletableFuture.supplyAsync(supplier);
  }

  Object complete(CompletableFuture<String> future) {
    return future.completeAsync(() -> "");
  }

  Executor commonPool() {
    return ForkJoinPool.commonPool();
  }

  Stream<String> parallelStream(List<String> list) {
    return list.parallelStream();
  }

  Stream<String> parallel(Stream<String> stream) {
    return stream.parallel();
  }
}
