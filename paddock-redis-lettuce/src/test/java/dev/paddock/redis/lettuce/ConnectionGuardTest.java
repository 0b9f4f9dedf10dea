/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.testkit.VirtualEnvironment;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.SocketException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class ConnectionGuardTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final VirtualEnvironment environment = new VirtualEnvironment(1);
  private final EmbeddedChannel channel =
      new EmbeddedChannel(new ConnectionGuard(environment, LIMIT.toNanos()));

  private void write() {
    ChannelFuture written = channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1}));
    assertThat(written.isDone()).isTrue();
  }

  private void read() {
    channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {1}));
  }

  @Test
  void channel_silentPastTheLimit_isClosedAtTheNextWrite() {
    write();
    environment.advance(LIMIT.plusMillis(1));
    assertThat(channel.isOpen()).isTrue();
    write();

    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void channel_silentUpToTheLimit_staysOpen() {
    write();
    environment.advance(LIMIT);
    write();

    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void channel_idleForLong_staysOpen() {
    write();
    read();
    environment.advance(LIMIT.multipliedBy(100));
    write();

    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void channel_silentSinceALaterWrite_countsFromThatWrite() {
    write();
    environment.advance(LIMIT.minusMillis(1));
    read();
    environment.advance(LIMIT.minusMillis(1));
    write();
    environment.advance(LIMIT);
    write();
    assertThat(channel.isOpen()).isTrue();
    environment.advance(Duration.ofMillis(1));
    write();

    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void reset_isAnEnd_notAnErrorForLettuce() {
    channel.pipeline().fireExceptionCaught(new SocketException("Connection reset"));

    channel.checkException();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void otherErrors_arePassedOn() {
    IllegalStateException bug = new IllegalStateException("a bug");
    channel.pipeline().fireExceptionCaught(bug);

    assertThat(channel.isOpen()).isTrue();
    assertThatThrownBy(channel::checkException).isSameAs(bug);
  }
}
