/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import dev.paddock.spi.Environment;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;

/**
 * Makes the loss of a connection known soon, and the same in all its forms. Runs on the channel's
 * event loop.
 *
 * <p><b>Silence.</b> Closes a connection on which nothing has come back for too long although
 * something was sent, so that a new one is made. Without it a peer that vanished without a word (a
 * pulled cable, a NAT that forgot the connection) is noticed only when the kernel gives up sending
 * again, after a quarter of an hour on Linux: TCP_USER_TIMEOUT, which shortens that, exists only
 * for Netty's native transports, and keep-alive probes are not sent while data is unacknowledged.
 * It checks at writes only: no timer and no traffic of its own, and a connection that nobody uses
 * is not disturbed.
 *
 * <p><b>Resets.</b> At an I/O error Lettuce fails the one command whose reply is due and sends the
 * others again after the reconnect; at an orderly end it sends all of them again. Here an I/O error
 * is an end as well.
 */
final class ConnectionGuard extends ChannelDuplexHandler {
  private final Environment environment;
  private final long limitNanos;

  private boolean expecting;
  private long sinceNanos;

  ConnectionGuard(Environment environment, long limitNanos) {
    this.environment = environment;
    this.limitNanos = limitNanos;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise)
      throws Exception {
    if (!expecting) {
      expecting = true;
      sinceNanos = environment.nanoTime();
    } else if (environment.nanoTime() - sinceNanos > limitNanos) {
      ChannelFuture unused = context.close();
    }
    super.write(context, message, promise);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
    expecting = false;
    super.channelRead(context, message);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) throws Exception {
    if (cause instanceof IOException) {
      ChannelFuture unused = context.close();
    } else {
      super.exceptionCaught(context, cause);
    }
  }
}
