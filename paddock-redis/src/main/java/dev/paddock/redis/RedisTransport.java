/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis;

import dev.paddock.StoreException;
import dev.paddock.spi.HintSubscription;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The few things a Redis client has to be able to do. Retrying, decoding and knowing the scripts
 * are not among them.
 *
 * <p>Nothing blocks but {@link #getHere}. A stage completes exceptionally with a {@link
 * RedisReplyException} when the server answered with an error, and with a {@link
 * dev.paddock.StoreException} when there was no answer; never with an exception of the client
 * library. A stage may never complete. Thread-safe.
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
   * Reads several values, by MGET where one can name all the keys: on a cluster, one for the keys
   * of a slot. MGET tells nothing of a key of another type, which is null then; GET may answer with
   * an error.
   *
   * @param keys the keys
   * @return the values, in the order of the keys, each null if there is none; by default a {@link
   *     #get} of each
   */
  default List<CompletionStage<byte @Nullable []>> getAll(List<byte[]> keys) {
    List<CompletionStage<byte @Nullable []>> all = new ArrayList<>(keys.size());
    for (byte[] key : keys) {
      all.add(get(key));
    }
    return all;
  }

  /**
   * Takes the reply of an MGET apart.
   *
   * @param reply the values, each null if there is none
   * @param keys how many keys were named
   * @return a stage for each of them; all fail as the reply does, or if it has not as many values
   */
  static List<CompletionStage<byte @Nullable []>> each(
      CompletionStage<List<byte @Nullable []>> reply, int keys) {
    List<CompletableFuture<byte @Nullable []>> all = new ArrayList<>(keys);
    for (int i = 0; i < keys; i++) {
      all.add(new CompletableFuture<>());
    }
    reply.whenComplete(
        (values, error) -> {
          Throwable failure = error;
          if (failure == null && values.size() != keys) {
            failure =
                new StoreException(
                    "MGET of " + keys + " keys brought " + values.size() + " values", null, false);
          }
          for (int i = 0; i < keys; i++) {
            if (failure == null) {
              all.get(i).complete(values.get(i));
            } else {
              all.get(i).completeExceptionally(failure);
            }
          }
        });
    return List.copyOf(all);
  }

  /**
   * Sends GET on a thread that has nothing to do until the reply is there. May block, for no longer
   * than a command time-out, and then returns a stage that is complete. By default {@link #get}.
   *
   * @param key the key
   * @return the value; null if there is none
   */
  default CompletionStage<byte @Nullable []> getHere(byte[] key) {
    return get(key);
  }

  /**
   * Sends EVALSHA. The reply is a bulk string, which counts as a list of one, or an array of them.
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
   * Sends EVAL. The reply is a bulk string, which counts as a list of one, or an array of them.
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

  /**
   * Subscribes to a channel of plain messages (PUBLISH), whichever server of a cluster sends them.
   *
   * @param channel the channel
   * @param onMessage takes each message, and an empty one where some may have been missed; does not
   *     block or throw
   * @return the subscription; by default as {@link #subscribe} makes it, which is right where
   *     channels are not sharded
   */
  default HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return subscribe(channel, onMessage);
  }

  /** Frees connections and threads. Idempotent. */
  void close();
}
