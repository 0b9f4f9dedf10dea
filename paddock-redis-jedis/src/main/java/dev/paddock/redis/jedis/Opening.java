/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import dev.paddock.spi.StoreOptions;
import java.util.function.Supplier;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * What the routes of one store have in common.
 *
 * @param connectionsMax to each server
 */
record Opening(
    Environment environment,
    Workers workers,
    StoreOptions options,
    Secrets secrets,
    int connectionsMax) {
  private static final long CONNECT_MIN_MILLIS = 1_000;

  /** The time-out of each command, of sockets and of waiting. */
  int commandMillis() {
    return millis(options.commandTimeout().toMillis());
  }

  private static int millis(long millis) {
    return (int) Math.max(1, Math.min(millis, Integer.MAX_VALUE));
  }

  /** Adds the time-outs for the long run. */
  JedisClientConfig timed(JedisClientConfig config) {
    long connect =
        Math.min(
            options.connectTimeout().toMillis(), Math.max(CONNECT_MIN_MILLIS, commandMillis()));
    return DefaultJedisClientConfig.builder()
        .from(config)
        .connectionTimeoutMillis(millis(connect))
        .socketTimeoutMillis(commandMillis())
        .build();
  }

  /** Adds the time-outs for one of so many steps of opening. */
  JedisClientConfig patient(JedisClientConfig config, int steps) {
    int step = millis(options.connectTimeout().toMillis() / steps);
    return DefaultJedisClientConfig.builder()
        .from(config)
        .connectionTimeoutMillis(step)
        .socketTimeoutMillis(step)
        .build();
  }

  /** Makes the connections to a server, by and by. */
  Node node(HostAndPort address, JedisClientConfig config, Node.Check check) {
    return Node.own(environment, address, timed(config), secrets, connectionsMax, check);
  }

  /** Makes the channels of a server, which connect when somebody listens. */
  HintChannels hints(HintChannels.Kind kind, String name, Supplier<Connection> connect) {
    return new HintChannels(
        kind, environment, name, secrets, workers, options.commandTimeout().toNanos(), connect);
  }
}
