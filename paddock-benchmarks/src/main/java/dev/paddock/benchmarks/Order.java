/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** What the coordinator tells a worker: one line of JSON on its standard input. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "order")
@JsonSubTypes({
  @JsonSubTypes.Type(Order.Hello.class),
  @JsonSubTypes.Type(Order.Slice.class),
  @JsonSubTypes.Type(Order.Fills.class),
  @JsonSubTypes.Type(Order.Herd.class),
  @JsonSubTypes.Type(Order.Rest.class),
  @JsonSubTypes.Type(Order.Bye.class)
})
sealed interface Order {
  /**
   * The first line.
   *
   * @param redisUri where Redis is
   * @param redisPid the Redis to stop when the coordinator is gone
   */
  record Hello(String redisUri, long redisPid) implements Order {}

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
   * Reads many keys once, then measures what is left of them; then holds flights open, and measures
   * what one takes.
   *
   * @param keys how many keys
   * @param flights how many flights
   */
  record Rest(int keys, int flights) implements Order {}

  /** Ends the worker. */
  record Bye() implements Order {}
}
