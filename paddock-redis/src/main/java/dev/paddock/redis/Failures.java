/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;

/** Turns what went wrong into a {@link StoreException} that says whether it may have happened. */
final class Failures {
  private static final int KEY_CHARACTERS = 100;

  /** Codes with which a server refuses a command before it does anything. */
  private static final Pattern REFUSED =
      code(
          "NOSCRIPT|READONLY|LOADING|NOPERM|WRONGTYPE|OOM|MISCONF|NOREPLICAS|MOVED|ASK|TRYAGAIN"
              + "|CLUSTERDOWN|CROSSSLOT|MASTERDOWN|NOAUTH|WRONGPASS|BUSY");

  /**
   * The scripts' own marks on the error of a command in them: nothing has been written, something
   * has. The same code can mean either there, for rights differ by command.
   */
  private static final Pattern UNDONE = code("UNDONE");

  private static final Pattern PARTIAL = code("PARTIAL");
  private static final Pattern MARK = Pattern.compile("(?<![A-Za-z0-9_])(?:UNDONE|PARTIAL) ");
  private static final Pattern READ_ONLY = code("READONLY");
  private static final Pattern NO_SCRIPT = code("NOSCRIPT");
  private static final Pattern WRONG_TYPE = code("WRONGTYPE");
  private static final Pattern NO_RIGHT = code("NOPERM");

  private Failures() {}

  private static Pattern code(String codes) {
    return Pattern.compile("(?<![A-Za-z0-9_])(?:" + codes + ")(?![A-Za-z0-9_])");
  }

  static boolean isNoScript(Throwable error) {
    return error instanceof RedisReplyException && NO_SCRIPT.matcher(text(error)).find();
  }

  static boolean isWrongType(Throwable error) {
    return error instanceof RedisReplyException && WRONG_TYPE.matcher(text(error)).find();
  }

  static boolean isNoRight(Throwable error) {
    return error instanceof RedisReplyException && NO_RIGHT.matcher(text(error)).find();
  }

  /** Peels off what stages wrap around a failure. */
  static Throwable unwrap(Throwable error) {
    Throwable inner = error;
    while ((inner instanceof CompletionException || inner instanceof ExecutionException)
        && inner.getCause() != null) {
      inner = inner.getCause();
    }
    return inner;
  }

  static StoreException of(String operation, Object key, Throwable error) {
    if (error instanceof StoreException known) {
      return known;
    }
    if (error instanceof RedisReplyException) {
      String message = text(error);
      return new StoreException(
          operation
              + " of "
              + shown(key)
              + ": the server answered "
              + MARK.matcher(message).replaceFirst("")
              + (READ_ONLY.matcher(message).find()
                  ? "; it is a replica: connect to the primary, or by Sentinels, which know it"
                  : ""),
          error,
          mayHaveHappened(message));
    }
    return new StoreException(operation + " of " + shown(key) + " failed", error, true);
  }

  private static boolean mayHaveHappened(String message) {
    if (PARTIAL.matcher(message).find()) {
      return true;
    }
    return !UNDONE.matcher(message).find() && !REFUSED.matcher(message).find();
  }

  static StoreException opening(Throwable error) {
    if (error instanceof StoreException known) {
      return known;
    }
    String why = error instanceof RedisReplyException ? ": the server answered " + text(error) : "";
    return new StoreException("the Redis store can't be opened" + why, error, false);
  }

  static StoreException undecodable(String operation, Object key, String why) {
    return new StoreException(
        operation + " of " + shown(key) + ": the server's answer makes no sense, " + why,
        null,
        true);
  }

  static StoreException closed(String operation, Object key) {
    return new StoreException(
        operation + " of " + shown(key) + ": the store is closed", null, false);
  }

  private static String text(Throwable error) {
    return String.valueOf(error.getMessage());
  }

  private static String shown(Object key) {
    String name = key.toString();
    return name.length() <= KEY_CHARACTERS ? name : name.substring(0, KEY_CHARACTERS) + "...";
  }
}
