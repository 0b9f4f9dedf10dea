/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.spi.HintSubscription;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The few things a Redis client has to be able to do. Retrying, decoding and knowing the scripts
 * are not among them.
 *
 * <p>Nothing blocks. A stage completes exceptionally with a {@link RedisReplyException} when the
 * server answered with an error, and with a {@link dev.paddock.StoreException} when there was no
 * answer; never with an exception of the client library. A stage may never complete. Thread-safe.
 */
public interface RedisTransport {

  /**
   * Sends GET.
   *
   * @param key the key
   * @return the value; null if there is none
   */
  CompletionStage<byte @Nullable []> get(byte[] key);

  /**
   * Sends EVALSHA. The reply is an array of bulk strings.
   *
   * <p>On a cluster, a transport may give a script of two keys the second one as the last argument
   * instead, if the node that has the slot has sent it to another by ASK, and that one answered
   * TRYAGAIN to both keys.
   *
   * @param sha1 40 hexadecimal digits
   * @param keys the keys, all of one slot
   * @param args the arguments
   * @return the reply
   */
  CompletionStage<List<byte[]>> evalsha(String sha1, byte[][] keys, byte[][] args);

  /**
   * Sends EVAL. The reply is an array of bulk strings.
   *
   * @param script the script
   * @param keys the keys, all of one slot
   * @param args the arguments
   * @return the reply
   */
  CompletionStage<List<byte[]>> eval(byte[] script, byte[][] keys, byte[][] args);

  /**
   * Sends TIME to the server that has the key.
   *
   * @param key the key
   * @return microseconds since 1970
   */
  CompletionStage<Long> timeMicros(byte[] key);

  /**
   * Names the server that has the key, as far as is known: clocks are kept apart by it.
   *
   * @param key the key
   * @return equal for keys of the same server
   */
  Object nodeOf(byte[] key);

  /**
   * Tells whether hints go through sharded channels (SPUBLISH and SSUBSCRIBE).
   *
   * @return true for a cluster of version 7 or later
   */
  boolean shardedChannels();

  /**
   * Subscribes to a channel on the one connection that serves all subscriptions.
   *
   * @param channel the channel
   * @param onMessage takes each message, and an empty one where some may have been missed; does not
   *     block or throw
   * @return the subscription
   */
  HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage);

  /** Frees connections and threads. Idempotent. */
  void close();
}
