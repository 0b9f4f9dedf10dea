/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.Environment;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One node of a cluster: its link, and the connection that Lettuce has to it. Thread-safe. */
final class ClusterNode {
  /*
   * The link begins in its bridge, so that commands wait while the first connection is made. Later
   * connections are Lettuce's business, as long as it keeps this one: it closes the connections to
   * nodes that have left the cluster, and makes new ones for those that come back. So a node that
   * fails commands asks for its connection anew every now and then, and takes another one over.
   */
  private static final long ASK_AGAIN_NANOS = 500_000_000;

  private final Environment environment;
  private final String name;
  private final Secrets secrets;
  private final Supplier<CompletionStage<StatefulRedisConnection<byte[], byte[]>>> connect;
  private final Runnable topologyIsOld;
  private final Link link;
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean connecting = new AtomicBoolean();
  private final AtomicLong askedAt = new AtomicLong();
  private volatile @Nullable StatefulRedisConnection<byte[], byte[]> connection;

  /**
   * Makes a node that has no connection yet.
   *
   * @param name host and port
   * @param connect returns Lettuce's connection to the node; may block or throw
   * @param topologyIsOld runs when something tells that the node's role has changed
   */
  ClusterNode(
      Environment environment,
      String name,
      Secrets secrets,
      long bridgeNanos,
      Supplier<CompletionStage<StatefulRedisConnection<byte[], byte[]>>> connect,
      Runnable topologyIsOld) {
    this.environment = environment;
    this.name = name;
    this.secrets = secrets;
    this.connect = connect;
    this.topologyIsOld = topologyIsOld;
    this.link =
        new Link(
            environment,
            name,
            secrets,
            bridgeNanos,
            LettuceTransport.OPEN_COMMANDS_MAX,
            this::wire,
            topologyIsOld);
  }

  String name() {
    return name;
  }

  String host() {
    return name.substring(0, name.lastIndexOf(':'));
  }

  Link link() {
    return link;
  }

  /** Connects, at the first call. */
  void start() {
    if (started.compareAndSet(false, true)) {
      link.lost();
      ask();
    }
  }

  /** A command was not sent: looks whether Lettuce has another connection by now. */
  void reconsider() {
    long last = askedAt.get();
    if (environment.nanoTime() - last >= ASK_AGAIN_NANOS) {
      ask();
    }
  }

  private void ask() {
    if (!connecting.compareAndSet(false, true)) {
      return;
    }
    askedAt.set(environment.nanoTime());
    Connecting.start(environment, connect, this::connected);
  }

  private void connected(
      @Nullable StatefulRedisConnection<byte[], byte[]> made, @Nullable Throwable failed) {
    if (made == null) {
      connecting.set(false);
      link.unreachable(failed == null ? "no connection" : secrets.summary(failed));
      return;
    }
    boolean another = !made.equals(connection);
    if (another) {
      connection = made;
      made.addListener(new Changes(made));
    }
    connecting.set(false);
    // One that is just being lost tells the listener, now or when it is back.
    if (another && made.isOpen()) {
      link.up();
    }
  }

  private void wire(Call<?> call) {
    StatefulRedisConnection<byte[], byte[]> over = connection;
    if (over == null) {
      throw new IllegalStateException("a link is up without a connection");
    }
    if (call.asksFirst()) {
      // In one piece, for ASKING is about the very next command on the connection.
      over.dispatch(
          List.of(
              new AsyncCommand<>(
                  new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE))),
              call));
    } else {
      over.dispatch(call);
    }
  }

  /** Fails what waits. The connection is Lettuce's to close. */
  void close() {
    link.close();
  }

  private final class Changes implements RedisConnectionStateListener {
    private final StatefulRedisConnection<byte[], byte[]> of;

    Changes(StatefulRedisConnection<byte[], byte[]> of) {
      this.of = of;
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> source, SocketAddress socketAddress) {
      if (of.equals(connection)) {
        link.up();
      }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> source) {
      if (of.equals(connection)) {
        link.lost();
        topologyIsOld.run();
      }
    }
  }
}
