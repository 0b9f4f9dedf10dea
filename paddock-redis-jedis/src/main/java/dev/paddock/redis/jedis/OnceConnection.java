/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * A connection that stays closed once it was closed. Jedis's own connects again when it is used
 * after that, without user, password and database: to a server that was left, and to other data.
 */
final class OnceConnection extends Connection {
  // Without an initialiser: the constructor of the super class connects, and this is set by then.
  private boolean opened;

  /** Connects, and introduces itself. Blocks. */
  OnceConnection(HostAndPort address, JedisClientConfig config) {
    super(address, config);
  }

  @Override
  public void connect() {
    if (isConnected()) {
      return;
    }
    if (opened) {
      throw new JedisConnectionException("the connection was closed");
    }
    opened = true;
    super.connect();
  }
}
