/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import dev.paddock.StoreException;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.KeeperException;

/** Turns what went wrong into a {@link StoreException} that says whether it may have happened. */
final class Failures {
  private Failures() {}

  static Throwable unwrap(Throwable error) {
    Throwable inner = error;
    while (inner instanceof CompletionException && inner.getCause() != null) {
      inner = inner.getCause();
    }
    return inner;
  }

  /** Whether a server answered with this code. */
  static boolean is(Throwable error, KeeperException.Code code) {
    return unwrap(error) instanceof KeeperException known && known.code() == code;
  }

  static StoreException of(String operation, String name, Throwable error) {
    Throwable cause = unwrap(error);
    if (cause instanceof StoreException known) {
      return known;
    }
    return new StoreException(
        operation + " of the lease " + name + ": " + cause.getMessage(),
        cause,
        !(cause instanceof KeeperException known) || mayHaveHappened(known.code()));
  }

  private static boolean mayHaveHappened(KeeperException.Code code) {
    return switch (code) {
      case NOAUTH,
          INVALIDACL,
          AUTHFAILED,
          NONODE,
          NODEEXISTS,
          BADARGUMENTS,
          UNIMPLEMENTED,
          QUOTAEXCEEDED ->
          false;
      default -> true;
    };
  }

  static StoreException closed(String operation, String name) {
    return new StoreException(
        operation + " of the lease " + name + ": the store is closed", null, false);
  }

  static StoreException notConnected(String operation, String name) {
    return new StoreException(
        operation + " of the lease " + name + ": there is no connection to ZooKeeper", null, false);
  }

  static StoreException silentSession(String operation, String name) {
    return new StoreException(
        operation
            + " of the lease "
            + name
            + ": this process, or its connection, stood still for so long that its session may be"
            + " about to time out; try again in a moment",
        null,
        true);
  }
}
