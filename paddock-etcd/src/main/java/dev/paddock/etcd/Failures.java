/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.etcd;

import dev.paddock.StoreException;
import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Turns what went wrong into a {@link StoreException} that says whether it may have happened. */
final class Failures {
  /** With which a server refuses a request before it does anything. */
  private static final Set<String> REFUSED =
      Set.of(
          "INVALID_ARGUMENT",
          "NOT_FOUND",
          "PERMISSION_DENIED",
          "UNAUTHENTICATED",
          "RESOURCE_EXHAUSTED",
          "FAILED_PRECONDITION",
          "UNIMPLEMENTED");

  private Failures() {}

  static Throwable unwrap(Throwable error) {
    Throwable inner = error;
    while ((inner instanceof CompletionException || inner instanceof ExecutionException)
        && inner.getCause() != null) {
      inner = inner.getCause();
    }
    return inner;
  }

  private static String code(Throwable error) {
    // jetcd passes some errors of gRPC on as they are.
    return error instanceof EtcdException known
        ? known.getErrorCode().name()
        : Status.fromThrowable(error).getCode().name();
  }

  /** Whether the server says that there is no such etcd lease. */
  static boolean isNotFound(Throwable error) {
    return code(unwrap(error)).equals(ErrorCode.NOT_FOUND.name());
  }

  static String message(Throwable error) {
    return String.valueOf(unwrap(error).getMessage());
  }

  static StoreException of(String operation, String name, Throwable error) {
    Throwable cause = unwrap(error);
    if (cause instanceof StoreException known) {
      return known;
    }
    return new StoreException(
        operation + " of the lease " + name + ": etcd answered " + message(cause),
        cause,
        !REFUSED.contains(code(cause)));
  }

  static StoreException closed(String operation, String name) {
    return new StoreException(
        operation + " of the lease " + name + ": the store is closed", null, false);
  }

  static StoreException givenUp(String name) {
    return new StoreException("ACQUIRE of the lease " + name + " was given up", null, false);
  }

  static StoreException newLeader(String name) {
    return new StoreException(
        "EXTEND of the lease "
            + name
            + ": etcd has a new leader, which may not have heard of it; extend it again",
        null,
        true);
  }

  static StoreException notCaughtUp(String name) {
    return new StoreException(
        "EXTEND of the lease "
            + name
            + ": the lease is there, but its etcd lease is not known yet or no more; extend it again",
        null,
        true);
  }
}
