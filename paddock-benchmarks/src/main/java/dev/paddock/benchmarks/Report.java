/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** What a worker tells the coordinator: one line of JSON on its standard output. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "report")
@JsonSubTypes({
  @JsonSubTypes.Type(Report.Ready.class),
  @JsonSubTypes.Type(Report.Sliced.class),
  @JsonSubTypes.Type(Report.Filled.class),
  @JsonSubTypes.Type(Report.Herded.class),
  @JsonSubTypes.Type(Report.Outdated.class),
  @JsonSubTypes.Type(Report.Rested.class),
  @JsonSubTypes.Type(Report.Taken.class),
  @JsonSubTypes.Type(Report.Contended.class),
  @JsonSubTypes.Type(Report.Paired.class),
  @JsonSubTypes.Type(Report.Failed.class)
})
sealed interface Report {
  /** It takes orders. */
  record Ready() implements Report {}

  /**
   * The end of {@link Order.Slice}.
   *
   * @param reads how many
   * @param nanos in which time
   */
  record Sliced(long reads, long nanos) implements Report {}

  /**
   * The end of {@link Order.Fills}.
   *
   * @param nanos how long all took
   * @param medianNanos how long one took
   */
  record Filled(long nanos, double medianNanos) implements Report {}

  /**
   * The end of {@link Order.Herd}.
   *
   * @param loadEndMicros when the loads of this process ended
   * @param answerMicros when the callers were answered
   * @param cpuNanos the processor time that this process has taken
   */
  record Herded(List<Long> loadEndMicros, List<Long> answerMicros, long cpuNanos)
      implements Report {}

  /**
   * The end of {@link Order.Late}.
   *
   * @param reads how many reads after a deletion found what had been loaded before it
   */
  record Outdated(int reads) implements Report {}

  /**
   * The end of {@link Order.Rest}.
   *
   * @param growthBytes how much more of the heap is in use after the keys than before
   * @param flightBytes how much an open flight takes
   * @param leftBytes how much more is in use after the flights than before
   */
  record Rested(long growthBytes, double flightBytes, long leftBytes) implements Report {}

  /**
   * The end of {@link Order.Alone}.
   *
   * @param medianNanos how long it took to take the lease and give it back
   */
  record Taken(double medianNanos) implements Report {}

  /**
   * The end of {@link Order.Contend}.
   *
   * @param holds all that there were
   */
  record Contended(List<Hold> holds) implements Report {}

  /**
   * The end of {@link Order.Majority}.
   *
   * @param nanos how long each lease took
   * @param boundNanos how long the bare votes took that followed it
   * @param handNanos how long its own scripts took, sent by hand
   * @param scripts how many scripts a lease was for a server, with its release
   */
  record Paired(List<Long> nanos, List<Long> boundNanos, List<Long> handNanos, double scripts)
      implements Report {}

  /**
   * The order was not carried out.
   *
   * @param reason why
   */
  record Failed(String reason) implements Report {}
}
