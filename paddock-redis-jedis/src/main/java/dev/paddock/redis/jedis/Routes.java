/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.spi.HintSubscription;
import java.util.function.Consumer;

/** Knows which server has a key. Nothing blocks; thread-safe. */
interface Routes {
  /**
   * Returns the server that has a key, as far as is known.
   *
   * @throws dev.paddock.StoreException if none is known; nothing was sent then
   */
  Node route(byte[] key);

  /** Returns the server that another one named in an answer. */
  Node named(String host, int port);

  /** Something is wrong with a server, or it is not the one any more: looks again. */
  void suspect(Node node);

  /** Tells whether it can help to wait for another server to take the place of one that refuses. */
  boolean isMoving();

  /** Tells whether one server has all keys, so that one command can name several. */
  boolean isOneServer();

  /** Tells whether hints go through sharded channels. */
  boolean sharded();

  /** Subscribes to a channel. */
  HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage);

  /** Subscribes to a channel of plain messages, whichever server sends them. */
  default HintSubscription subscribeToAll(byte[] channel, Consumer<byte[]> onMessage) {
    return subscribe(channel, onMessage);
  }

  /** Closes all connections, and ends the threads of the hints. */
  void close();

  /** Waits for the threads of the hints to end, within reason. */
  void awaitEnd(long millis) throws InterruptedException;
}
