/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** What the coordinator tells a worker: one line of JSON on its standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(Order.Hello.class),
  @JsonSubTypes.Type(Order.Outlive.class),
  @JsonSubTypes.Type(Order.Aggregation.class),
  @JsonSubTypes.Type(Order.LetGo.class),
  @JsonSubTypes.Type(Order.InvalidationReturned.class),
  @JsonSubTypes.Type(Order.Run.class),
  @JsonSubTypes.Type(Order.Stop.class),
  @JsonSubTypes.Type(Order.Seed.class),
  @JsonSubTypes.Type(Order.Invalidate.class),
  @JsonSubTypes.Type(Order.Peek.class),
  @JsonSubTypes.Type(Order.Bye.class)
})
sealed interface Order {
  /**
   * The first line. The URI may hold a password, which a command line would show to everybody.
   *
   * @param process number of this worker, from 0
   * @param redisUri where Redis is
   * @param prefix what all keys begin with
   * @param redisPids the servers to stop when the coordinator is gone
   */
  record Hello(int process, String redisUri, String prefix, List<Long> redisPids)
      implements Order {}

  /**
   * Servers were started again.
   *
   * @param redisPids the servers to stop when the coordinator is gone, in place of those before
   */
  record Outlive(List<Long> redisPids) implements Order {}

  /**
   * How the aggregation behaves from now on.
   *
   * @param loadMillis how long it takes
   * @param uneven whether it takes any time between that and twice that
   * @param held whether loads wait for {@link LetGo} before they begin to count the time
   * @param failing whether it fails in the end
   * @param outlived whether it ends only after an invalidation that began after it did
   */
  record Aggregation(
      long loadMillis, boolean uneven, boolean held, boolean failing, boolean outlived)
      implements Order {}

  /**
   * Ends the hold, for loads to come and for those held now.
   *
   * @param butNot versions of loads that stay held
   */
  record LetGo(List<Long> butNot) implements Order {}

  /**
   * An invalidation has returned to its caller, in whichever process.
   *
   * @param beganMicros when it began
   */
  record InvalidationReturned(long beganMicros) implements Order {}

  /**
   * Lets callers loose.
   *
   * @param round names this run in the reports
   * @param strategy how they read
   * @param cell what they read
   * @param callers how many of them
   * @param startAtMicros when all of them ask, in microseconds since 1970
   * @param again whether each asks again once it is answered, until {@link Stop}
   * @param patienceMillis how long a recipe tries before it gives up
   */
  record Run(
      long round,
      Strategy strategy,
      Cell cell,
      int callers,
      long startAtMicros,
      boolean again,
      long patienceMillis)
      implements Order {}

  /**
   * Ends a run: callers finish what they are at.
   *
   * @param round the run
   */
  record Stop(long round) implements Order {}

  /**
   * Stores a value that has expired when {@link Report.Seeded} is sent.
   *
   * @param strategy whose layout
   * @param cell where
   */
  record Seed(Strategy strategy, Cell cell) implements Order {}

  /**
   * Removes the value: by Paddock, or by DEL.
   *
   * @param strategy whose layout
   * @param cell where
   */
  record Invalidate(Strategy strategy, Cell cell) implements Order {}

  /**
   * Looks what Paddock has stored.
   *
   * @param cell where
   */
  record Peek(Cell cell) implements Order {}

  /** Ends the worker. */
  record Bye() implements Order {}
}
