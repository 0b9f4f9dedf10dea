/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.spi.HintSubscription;
import java.util.function.Consumer;

/** The only server there is has all keys. */
final class OneServer implements Routes {
  private final Node node;
  private final HintChannels hints;

  /** Takes over a node and the channels there. */
  OneServer(Node node, HintChannels hints) {
    this.node = node;
    this.hints = hints;
  }

  @Override
  public Node route(byte[] key) {
    return node;
  }

  @Override
  public Node named(String host, int port) {
    // A server that is no node of a cluster names no other.
    return node;
  }

  @Override
  public void suspect(Node suspected) {}

  @Override
  public boolean isMoving() {
    return false;
  }

  @Override
  public boolean isOneServer() {
    return true;
  }

  @Override
  public boolean sharded() {
    return false;
  }

  @Override
  public HintSubscription subscribe(byte[] channel, Consumer<byte[]> onMessage) {
    return hints.subscribe(channel, onMessage::accept);
  }

  @Override
  public void close() {
    hints.close();
    node.close();
  }

  @Override
  public void awaitEnd(long millis) throws InterruptedException {
    hints.awaitEnd(millis);
  }
}
