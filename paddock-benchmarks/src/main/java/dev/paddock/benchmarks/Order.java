/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/** What the coordinator tells a worker: one line of JSON on its standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(Order.Hello.class),
  @JsonSubTypes.Type(Order.Slice.class),
  @JsonSubTypes.Type(Order.Fills.class),
  @JsonSubTypes.Type(Order.Herd.class),
  @JsonSubTypes.Type(Order.Late.class),
  @JsonSubTypes.Type(Order.Rest.class),
  @JsonSubTypes.Type(Order.Alone.class),
  @JsonSubTypes.Type(Order.Contend.class),
  @JsonSubTypes.Type(Order.Majority.class),
  @JsonSubTypes.Type(Order.Bye.class)
})
sealed interface Order {
  /**
   * The first line.
   *
   * @param redisUri where Redis is
   * @param redisPids the servers to stop when the coordinator is gone
   */
  record Hello(String redisUri, List<Long> redisPids) implements Order {}

  /**
   * Reads stored values as fast as it goes.
   *
   * @param way how
   * @param threads how many readers
   * @param oneKey whether all read the same key; else each has its own
   * @param millis for how long
   */
  record Slice(Way way, int threads, boolean oneKey, long millis) implements Order {}

  /**
   * Reads keys that nobody has stored.
   *
   * @param way how
   * @param prefix what the keys begin with; not used before
   * @param count how many keys
   * @param threads how many readers share them
   * @param loadMicros how long a load takes
   */
  record Fills(Way way, String prefix, int count, int threads, long loadMicros) implements Order {}

  /**
   * Reads one key by many callers at the same moment.
   *
   * @param way how
   * @param key the key; not used before
   * @param callers how many in this process
   * @param startAtMicros when they ask, in microseconds since 1970
   * @param loadMillis how long a load takes
   */
  record Herd(Way way, String key, int callers, long startAtMicros, long loadMillis)
      implements Order {}

  /**
   * Deletes keys while they are being loaded.
   *
   * @param way how
   * @param prefix what the keys begin with; not used before
   * @param count how many keys, one after the other
   */
  record Late(Way way, String prefix, int count) implements Order {}

  /**
   * Reads many keys once, then measures what is left of them; then holds flights open, and measures
   * what one takes.
   *
   * @param keys how many keys
   * @param flights how many flights
   */
  record Rest(int keys, int flights) implements Order {}

  /**
   * Takes a lease that nobody else wants and gives it back, by one thread.
   *
   * @param way how
   * @param name the lease
   * @param count how often
   */
  record Alone(Way way, String name, int count) implements Order {}

  /**
   * Takes a lease, holds it, gives it back and goes away for a while, by several threads over and
   * over.
   *
   * @param way how
   * @param name the lease
   * @param threads how many in this process
   * @param startAtMicros when they begin, in microseconds since 1970
   * @param millis after so long none asks any more
   * @param holdMicros how long it is held
   * @param awayMicros how long a thread is away afterwards, at most; half of it on average
   */
  record Contend(
      Way way,
      String name,
      int threads,
      long startAtMicros,
      long millis,
      long holdMicros,
      long awayMicros)
      implements Order {}

  /**
   * Takes a lease by a majority of servers, and asks all of them by bare votes, in turns.
   *
   * @param uris the servers, the same each time
   * @param commit whether a second round is to be needed each time
   * @param pairs how often
   */
  record Majority(List<String> uris, boolean commit, int pairs) implements Order {}

  /** Ends the worker. */
  record Bye() implements Order {}
}
