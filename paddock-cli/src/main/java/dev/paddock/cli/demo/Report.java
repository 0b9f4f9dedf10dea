/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a worker tells the coordinator: one line of JSON on its standard output, sent at once. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "report")
@JsonSubTypes({
  @JsonSubTypes.Type(Report.Ready.class),
  @JsonSubTypes.Type(Report.LoadBegan.class),
  @JsonSubTypes.Type(Report.LoadEnded.class),
  @JsonSubTypes.Type(Report.FillEnded.class),
  @JsonSubTypes.Type(Report.AllAsked.class),
  @JsonSubTypes.Type(Report.BetweenCommands.class),
  @JsonSubTypes.Type(Report.Answered.class),
  @JsonSubTypes.Type(Report.Seeded.class),
  @JsonSubTypes.Type(Report.Invalidated.class),
  @JsonSubTypes.Type(Report.Peeked.class),
  @JsonSubTypes.Type(Report.Trouble.class),
  @JsonSubTypes.Type(Report.Gone.class)
})
sealed interface Report {
  /** The worker is connected and takes orders. */
  record Ready() implements Report {}

  /**
   * A load began.
   *
   * @param cell the cell
   * @param version of the value that it will make
   * @param askedMicros when its caller asked for the lock that it runs under; else when it began
   * @param atMicros when it began
   */
  record LoadBegan(String cell, long version, long askedMicros, long atMicros) implements Report {}

  /**
   * A load ended.
   *
   * @param cell the cell
   * @param version of its value
   * @param atMicros when it ended
   * @param failed whether it failed
   */
  record LoadEnded(String cell, long version, long atMicros, boolean failed) implements Report {}

  /**
   * Paddock offered a loaded value to Redis.
   *
   * @param cell the cell
   * @param outcome what became of it; UNKNOWN if that is not known
   */
  record FillEnded(String cell, String outcome) implements Report {}

  /**
   * Every caller of a run has asked.
   *
   * @param round the run
   */
  record AllAsked(long round) implements Report {}

  /**
   * A caller holds the lock after SETNX and has not sent EXPIRE yet.
   *
   * @param cell the cell
   */
  record BetweenCommands(String cell) implements Report {}

  /**
   * A run is over.
   *
   * @param round the run
   * @param answers one for each call
   * @param events how often Paddock's listener was told what in the meantime, by name of the event
   * @param longestStallMillis for how long the process could not get through to Redis at worst
   */
  record Answered(
      long round, List<Answer> answers, Map<String, Long> events, long longestStallMillis)
      implements Report {}

  /**
   * What one call got.
   *
   * @param askedMicros when it asked
   * @param answeredMicros when it was answered, or gave up
   * @param version which load made its value; 0 if it got none
   * @param loadStartMicros when that load began; 0 if it got none
   * @param error class of the exception that it got; null if none
   */
  record Answer(
      long askedMicros,
      long answeredMicros,
      long version,
      long loadStartMicros,
      @Nullable String error) {}

  /**
   * A value has been stored and has expired since.
   *
   * @param cell the cell
   * @param version its version
   */
  record Seeded(String cell, long version) implements Report {}

  /**
   * An invalidation returned.
   *
   * @param cell the cell
   * @param beganMicros when it was called
   * @param returnedMicros when it returned
   */
  record Invalidated(String cell, long beganMicros, long returnedMicros) implements Report {}

  /**
   * What is stored.
   *
   * @param cell the cell
   * @param version of the stored value; 0 if none is, {@link #UNREACHABLE} if Redis could not be
   *     asked
   */
  record Peeked(String cell, long version) implements Report {
    static final long UNREACHABLE = -1;
  }

  /**
   * Something failed that the experiment had not foreseen.
   *
   * @param message what
   */
  record Trouble(String message) implements Report {}

  /** The process has ended. Put into the journal by the coordinator itself. */
  record Gone() implements Report {}
}
