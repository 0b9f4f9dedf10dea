/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Something that happened to a lease of {@link LeaseLock}. */
public sealed interface LeaseEvent {

  /**
   * Returns the name of the lease.
   *
   * @return the name
   */
  String name();

  /**
   * A lease was acquired.
   *
   * @param name the lease
   * @param token its fencing token
   * @param waited how long the caller waited, the request included
   */
  record Acquired(String name, long token, Duration waited) implements LeaseEvent {}

  /**
   * A caller went away without the lease, because another held it.
   *
   * @param name the lease
   * @param waited how long the caller waited, the request included
   */
  record Refused(String name, Duration waited) implements LeaseEvent {}

  /**
   * A lease was extended, by renewal or by its holder.
   *
   * @param name the lease
   * @param token its fencing token
   */
  record Extended(String name, long token) implements LeaseEvent {}

  /**
   * A lease was lost while its holder still had it.
   *
   * @param name the lease
   * @param token its fencing token
   * @param reason how
   */
  record Lost(String name, long token, LossReason reason) implements LeaseEvent {}

  /** How a lease was lost. */
  enum LossReason {
    /** It is about to run out, or has, and no extension came through. */
    RAN_OUT,
    /** It is about to run out because it was renewed for as long as was asked. */
    HELD_TOO_LONG,
    /** The store said that it is another's, or gone. */
    TAKEN,
    /** The {@link LeaseLock} was closed. */
    CLOSED
  }

  /**
   * A lease was given back.
   *
   * @param name the lease
   * @param token its fencing token
   * @param outcome how it ended
   * @param held how long it was held
   * @param margin how long it would have been valid yet; zero or less if it was not any more
   */
  record Ended(String name, long token, LeaseOutcome outcome, Duration held, Duration margin)
      implements LeaseEvent {}

  /**
   * An operation on the store failed. If an acquire or a release may have happened, a release is
   * repeated in the background.
   *
   * @param name the lease
   * @param operation ACQUIRE, EXTEND or RELEASE
   * @param error what went wrong
   */
  record StoreFailed(String name, String operation, StoreException error) implements LeaseEvent {}

  /**
   * A release that was repeated in the background has its answer.
   *
   * @param name the lease
   * @param owner whose lease it would have been
   * @param released whether there was something to release; null if the store had not answered by
   *     the time the lease must have run out
   */
  record CleanedUp(String name, String owner, @Nullable Boolean released) implements LeaseEvent {}
}
