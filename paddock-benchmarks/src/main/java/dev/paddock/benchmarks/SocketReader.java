/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.benchmarks;

import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;

/**
 * Sends GET and waits for the reply, over a blocking socket that the thread has for itself: no
 * pool, no queue, no other thread. No client of Redis in Java can be faster by much.
 */
final class SocketReader implements StoringReader {
  private final HostAndPort server;
  private final Queue<Connection> open = new ConcurrentLinkedQueue<>();
  private final ThreadLocal<Connection> mine = ThreadLocal.withInitial(this::connect);

  SocketReader(String uri) {
    URI parts = URI.create(uri);
    server = new HostAndPort(parts.getHost(), parts.getPort());
  }

  private Connection connect() {
    Connection connection = new Connection(server);
    open.add(connection);
    return connection;
  }

  @Override
  public byte @Nullable [] read(String key, Source source) {
    return (byte[])
        mine.get().executeCommand(new CommandArguments(Command.GET).key(LuaScript.bytes(key)));
  }

  @Override
  public void store(String key, byte[] value) {
    Object unused =
        mine.get()
            .executeCommand(
                new CommandArguments(Command.PSETEX)
                    .key(LuaScript.bytes(key))
                    .add(LuaScript.TTL_MILLIS)
                    .add(value));
  }

  @Override
  public void close() {
    open.forEach(Connection::close);
  }
}
