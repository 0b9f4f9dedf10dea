/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.testkit;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a network and a server do to one {@link RedisRequest}.
 *
 * <p>Of a message to a subscriber, {@code requestDelay}, {@code executed} and {@code repeatedAfter}
 * say when, whether and how often it arrives.
 *
 * @param requestDelay how long the request travels
 * @param executed whether it arrives
 * @param repeatedAfter how much later it arrives a second time; null for never. Only the first
 *     reply is delivered
 * @param replyDelay how long the reply travels
 * @param answer what the client sees
 * @since 0.1.0
 */
public record RequestFate(
    Duration requestDelay,
    boolean executed,
    @Nullable Duration repeatedAfter,
    Duration replyDelay,
    Answer answer) {

  /** What the client sees of a request. */
  public enum Answer {
    /** The reply. */
    REPLY,
    /** Nothing, ever. */
    NONE,
    /** A failure that tells that the request was never executed. */
    FAILURE,
    /** A failure that leaves open whether it was executed. */
    UNKNOWN
  }

  /** All is well: no delay, executed once, replied. */
  public static final RequestFate DELIVERED =
      new RequestFate(Duration.ZERO, true, null, Duration.ZERO, Answer.REPLY);

  /** The request never arrives and the client hears nothing. */
  public static final RequestFate LOST_REQUEST =
      new RequestFate(Duration.ZERO, false, null, Duration.ZERO, Answer.NONE);

  /** The request is executed, but the client hears nothing. */
  public static final RequestFate LOST_REPLY =
      new RequestFate(Duration.ZERO, true, null, Duration.ZERO, Answer.NONE);

  /** The client could not send it, and knows that. */
  public static final RequestFate NOT_SENT =
      new RequestFate(Duration.ZERO, false, null, Duration.ZERO, Answer.FAILURE);

  /** The connection broke before the request arrived; the client can't know that. */
  public static final RequestFate BROKEN_BEFORE =
      new RequestFate(Duration.ZERO, false, null, Duration.ZERO, Answer.UNKNOWN);

  /** The connection broke after the request was executed; the client can't know that. */
  public static final RequestFate BROKEN_AFTER =
      new RequestFate(Duration.ZERO, true, null, Duration.ZERO, Answer.UNKNOWN);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a delay is negative, a request that never arrives is
   *     answered or repeated, or one that is executed fails as if it had not been
   */
  public RequestFate {
    requireNonNull(answer, "answer");
    if (requestDelay.isNegative()
        || replyDelay.isNegative()
        || (repeatedAfter != null && repeatedAfter.isNegative())) {
      throw new IllegalArgumentException("a delay must not be negative");
    }
    if (executed ? answer == Answer.FAILURE : answer == Answer.REPLY || repeatedAfter != null) {
      throw new IllegalArgumentException(
          "executed=" + executed + " does not go with " + answer + ", repeated " + repeatedAfter);
    }
  }

  /**
   * Makes a copy with other delays.
   *
   * @param request how long the request travels
   * @param reply how long the reply, or the news of the failure, travels
   * @return the copy
   */
  public RequestFate delayed(Duration request, Duration reply) {
    return new RequestFate(request, executed, repeatedAfter, reply, answer);
  }

  /**
   * Makes a copy in which the request arrives twice.
   *
   * @param after how much later the second one arrives
   * @return the copy
   */
  public RequestFate repeated(Duration after) {
    return new RequestFate(requestDelay, executed, after, replyDelay, answer);
  }
}
