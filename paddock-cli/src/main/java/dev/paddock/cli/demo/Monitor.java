/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one server says that it was sent. Lettuce has no MONITOR: it connects, over TLS and with a
 * password if need be, and what comes after the reply to MONITOR is taken from under it.
 */
final class Monitor implements AutoCloseable {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
  private static final Duration SHUTDOWN = Duration.ofSeconds(2);

  private final RedisClient client;
  private final RedisCommands<String, String> marking;
  private final RedisCommands<String, String> listening;
  private final Tap tap;

  /**
   * Connects, and does not listen yet.
   *
   * @param taps puts a tap into the connection
   * @param uri the server
   * @param lines takes each line
   * @param end told when there will be no more lines
   * @throws io.lettuce.core.RedisException if that fails
   */
  Monitor(Taps taps, RedisURI uri, Consumer<String> lines, Runnable end) {
    tap = new Tap(lines, end);
    client =
        RedisClient.create(taps.resources, RedisURI.builder(uri).withTimeout(CONNECT_MAX).build());
    // A connection that is made anew would not listen, and nobody would know.
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    try {
      marking = client.connect().sync();
      listening = taps.connect(client, tap);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  static String address(RedisURI uri) {
    return uri.getHost() + ":" + uri.getPort();
  }

  /**
   * Listens from here.
   *
   * @throws io.lettuce.core.RedisException if the server refuses
   */
  void begin() {
    tap.listens = true;
    listening.dispatch(CommandType.MONITOR, new StatusOutput<>(StringCodec.UTF8));
  }

  /**
   * Has a text appear in the lines, behind all that the server has done before.
   *
   * @param text the text
   * @throws io.lettuce.core.RedisException if the server is gone
   */
  void mark(String text) {
    marking.echo(text);
  }

  @Override
  public void close() {
    client.shutdown(Duration.ZERO, SHUTDOWN);
  }

  /** The threads of some monitors. Puts the tap into those connections that need one. */
  static final class Taps implements NettyCustomizer, AutoCloseable {
    private static final int THREADS = 2;

    private final ReentrantLock lock = new ReentrantLock();
    private final ClientResources resources =
        ClientResources.builder()
            .ioThreadPoolSize(THREADS)
            .computationThreadPoolSize(THREADS)
            .nettyCustomizer(this)
            .build();
    private volatile @Nullable Tap next;

    private RedisCommands<String, String> connect(RedisClient client, Tap tap) {
      lock.lock();
      try {
        next = tap;
        return client.connect().sync();
      } finally {
        next = null;
        lock.unlock();
      }
    }

    @Override
    public void close() {
      resources
          .shutdown(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS)
          .awaitUninterruptibly(CONNECT_MAX.toMillis());
    }

    @Override
    public void afterChannelInitialized(Channel channel) {
      Tap tap = next;
      if (tap != null) {
        // There TLS has been taken off already.
        String under = channel.pipeline().context(CommandHandler.class).name();
        channel.pipeline().addBefore(under, "tap", tap);
      }
    }
  }

  /** Lets the reply to MONITOR pass and takes all that comes then. */
  private static final class Tap extends ChannelInboundHandlerAdapter {
    private final Consumer<String> lines;
    private final Runnable end;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean replied;
    volatile boolean listens;

    Tap(Consumer<String> lines, Runnable end) {
      this.lines = lines;
      this.end = end;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (!listens || !(message instanceof ByteBuf bytes)) {
        context.fireChannelRead(message);
        return;
      }
      try {
        while (bytes.isReadable()) {
          byte next = bytes.readByte();
          line.write(next);
          if (next == '\n') {
            take(context);
          }
        }
      } finally {
        bytes.release();
      }
    }

    private void take(ChannelHandlerContext context) {
      byte[] taken = line.toByteArray();
      line.reset();
      if (replied) {
        lines.accept(new String(taken, 1, taken.length - 1, UTF_8).stripTrailing());
      } else {
        replied = true;
        context.fireChannelRead(Unpooled.wrappedBuffer(taken));
        context.fireChannelReadComplete();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      end.run();
      context.fireChannelInactive();
    }
  }
}
