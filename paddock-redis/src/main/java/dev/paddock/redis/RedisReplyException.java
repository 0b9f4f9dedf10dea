/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

/** The server answered with an error. */
public final class RedisReplyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What follows are the arguments of a command that the server does not know: the user's data. */
  private static final String ARGUMENTS = ", with args beginning with";

  /**
   * Makes an exception. Its message is the server's, which tells no password; where the server
   * quotes arguments they are left out.
   *
   * @param message the server's answer, code first
   */
  public RedisReplyException(String message) {
    super(withoutArguments(message));
  }

  private static String withoutArguments(String message) {
    int at = message.indexOf(ARGUMENTS);
    return at < 0 ? message : message.substring(0, at);
  }
}
