/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.soak;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.Map;

/**
 * What a worker says: one line of JSON, sent at once, so that it is known even if the worker is
 * killed. All times are of the machine's monotonic clock, which all processes share.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "said")
@JsonSubTypes({
  @JsonSubTypes.Type(Said.Ready.class),
  @JsonSubTypes.Type(Said.Reads.class),
  @JsonSubTypes.Type(Said.OddError.class),
  @JsonSubTypes.Type(Said.LoadBegan.class),
  @JsonSubTypes.Type(Said.LoadEnded.class),
  @JsonSubTypes.Type(Said.FillEnded.class),
  @JsonSubTypes.Type(Said.LeaseLost.class),
  @JsonSubTypes.Type(Said.Unprotected.class),
  @JsonSubTypes.Type(Said.OutageServed.class),
  @JsonSubTypes.Type(Said.Unreadable.class),
  @JsonSubTypes.Type(Said.Invalidating.class),
  @JsonSubTypes.Type(Said.Invalidated.class),
  @JsonSubTypes.Type(Said.AnchorPut.class),
  @JsonSubTypes.Type(Said.AnchorMissed.class),
  @JsonSubTypes.Type(Said.Stalled.class),
  @JsonSubTypes.Type(Said.Wrote.class),
  @JsonSubTypes.Type(Said.Done.class),
  @JsonSubTypes.Type(Said.Trouble.class)
})
sealed interface Said {
  /** It is connected and has begun. */
  record Ready() implements Said {}

  /**
   * Calls that have ended, in rows of {@value #WIDTH} numbers: key, when it began, when it ended,
   * and the value that was returned or, below 1, what happened instead.
   *
   * @param rows all rows, one after the other
   */
  @SuppressWarnings("ArrayRecordComponent") // Nobody compares them.
  record Reads(long[] rows) implements Said {
    static final int WIDTH = 4;

    /** The load that the caller waited for failed. */
    static final long LOAD_FAILED = -1;

    /** The caller's wait was over. */
    static final long TIMED_OUT = -2;

    /** Any other exception, or null. */
    static final long ODD = -3;

    /**
     * Makes the value of a load.
     *
     * @param version what the load found
     * @param leased whether it ran under a lease; one that did not is not stored, so its value
     *     comes from the caller's own process
     * @return a number above 0
     */
    static long value(long version, boolean leased) {
      return version * 2 + (leased ? 0 : 1);
    }

    static long version(long value) {
      return value / 2;
    }

    static boolean isLeased(long value) {
      return value % 2 == 0;
    }
  }

  /**
   * A call ended in a way that none should.
   *
   * @param key the key
   * @param begun when it began
   * @param ended when it ended
   * @param error what came
   */
  record OddError(int key, long begun, long ended, String error) implements Said {}

  /**
   * A load began.
   *
   * @param key the key
   * @param load its number, unique in the worker
   * @param at when
   * @param leased whether under a lease that nobody else has
   */
  record LoadBegan(int key, long load, long at, boolean leased) implements Said {}

  /**
   * A load ended.
   *
   * @param key the key
   * @param load its number
   * @param at when
   * @param failed whether it failed
   */
  record LoadEnded(int key, long load, long at, boolean failed) implements Said {}

  /**
   * A loaded value was offered to the store.
   *
   * @param key the key
   * @param at when that was known
   * @param outcome the outcome; UNKNOWN if there was no answer
   */
  record FillEnded(int key, long at, String outcome) implements Said {}

  /**
   * A caller got what its own process had loaded while the store could not take it, which may be
   * older than an invalidation elsewhere.
   *
   * @param key the key
   * @param at when, between the begin and the end of that call
   */
  record OutageServed(int key, long at) implements Said {}

  /**
   * A fill lease was lost.
   *
   * @param key the key
   * @param at when the worker was told
   */
  record LeaseLost(int key, long at) implements Said {}

  /**
   * A reason for loads without a lease: the store failed, or a value may not be stored. Said at
   * intervals only.
   *
   * @param at when
   * @param why what
   */
  record Unprotected(long at, String why) implements Said {}

  /**
   * What is stored could not be used.
   *
   * @param at when
   * @param why the reason
   */
  record Unreadable(long at, String why) implements Said {}

  /**
   * The source has been changed, and an invalidation begins.
   *
   * @param key the key
   * @param version the version after the change
   * @param at when
   */
  record Invalidating(int key, long version, long at) implements Said {}

  /**
   * An invalidation ended.
   *
   * @param key the key
   * @param version the version after the change
   * @param begun when it began
   * @param ended when it ended
   * @param acknowledged false if it threw, and so may not have happened
   */
  record Invalidated(int key, long version, long begun, long ended, boolean acknowledged)
      implements Said {}

  /**
   * The value that is always there has been stored, or a try to do so has ended.
   *
   * @param begun when that began
   * @param ended when it ended
   * @param acknowledged false if it threw; the key is then invalidated as far as possible
   */
  record AnchorPut(long begun, long ended, boolean acknowledged) implements Said {}

  /**
   * The value that is always there was said to be missing.
   *
   * @param begun when the lookup began
   * @param ended when it ended
   */
  record AnchorMissed(long begun, long ended) implements Said {}

  /**
   * The worker did not run, or hardly.
   *
   * @param from since when
   * @param to until when
   */
  record Stalled(long from, long to) implements Said {}

  /**
   * An update of a register was tried.
   *
   * @param fenced which twin
   * @param register which register
   * @param token the token of the lease
   * @param to the value written
   * @param at when it ended
   * @param outcome what came of it
   */
  record Wrote(boolean fenced, int register, long token, long to, long at, Write outcome)
      implements Said {}

  /** What came of an update. */
  enum Write {
    /** The database acknowledged it. */
    ACKNOWLEDGED,
    /** The fence refused it. */
    REJECTED,
    /** The database failed. */
    UNKNOWN
  }

  /**
   * All calls have ended.
   *
   * @param counts how often what happened
   */
  record Done(Map<String, Long> counts) implements Said {}

  /**
   * Something failed that nobody had foreseen.
   *
   * @param message what
   */
  record Trouble(String message) implements Said {}
}
