/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.zookeeper;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that go at each moment of their connecting. */
final class LeavingZooKeeperIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int SESSION_MILLIS = 10_000;
  private static final Watcher NOBODY = event -> {};

  private @Nullable TestingServer server;

  @BeforeEach
  void startServer() throws Exception {
    server = new TestingServer();
  }

  @AfterEach
  void stopServer() throws Exception {
    server().close();
  }

  private TestingServer server() {
    return requireNonNull(server);
  }

  /** Keeps a connecting thread where it has the server's answer and is not connected yet. */
  private static final class Gate implements HostProvider {
    private final HostProvider hosts;
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);

    Gate(int port) {
      hosts =
          new StaticHostProvider(
              List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
    }

    @Override
    public int size() {
      return hosts.size();
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
      return hosts.next(spinDelay);
    }

    @Override
    public void onConnected() {
      hosts.onConnected();
      reached.countDown();
      try {
        assertThat(open.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public boolean updateServerList(
        Collection<InetSocketAddress> servers, InetSocketAddress current) {
      return hosts.updateServerList(servers, current);
    }
  }

  @Test
  void leave_betweenTheServersAnswerAndConnected_endsItsThreads() throws Exception {
    Gate gate = new Gate(server().getPort());
    LeavingZooKeeper client =
        new LeavingZooKeeper(server().getConnectString(), SESSION_MILLIS, NOBODY, gate);
    assertThat(gate.reached.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();

    CompletableFuture<Void> left = CompletableFuture.runAsync(client::leave);
    await().atMost(LIMIT).until(() -> client.getState() == ZooKeeper.States.CLOSED);
    // Now the sending thread writes CONNECTED over CLOSED.
    gate.open.countDown();

    assertThat(left).succeedsWithin(LIMIT);
    assertThat(client.awaitEnd((int) LIMIT.toMillis())).isTrue();
    assertThat(client.getState().isAlive()).isFalse();
  }

  @Test
  void factory_ended_makesNoClient() throws Exception {
    LeavingZooKeeper.Factory factory = new LeavingZooKeeper.Factory();
    LeavingZooKeeper former =
        (LeavingZooKeeper)
            factory.newZooKeeper(server().getConnectString(), SESSION_MILLIS, NOBODY, false);
    factory.end();

    assertThat(former.awaitEnd((int) LIMIT.toMillis())).isTrue();
    assertThatThrownBy(
            () -> factory.newZooKeeper(server().getConnectString(), SESSION_MILLIS, NOBODY, false))
        .isInstanceOf(IllegalStateException.class);
  }
}
