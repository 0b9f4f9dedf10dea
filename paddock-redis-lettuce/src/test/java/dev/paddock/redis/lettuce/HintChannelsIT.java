/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.spi.HintSubscription;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class HintChannelsIT {
  private static final byte[] CHANNEL = {0, -1, 'c'};

  private static RedisServerProcess server;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private FaultProxy proxy;
  private LettuceTransport transport;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() {
    proxy = FaultProxy.to(server.port());
    transport = open(proxy.uri(), environment);
  }

  @AfterEach
  void close() {
    transport.close();
    proxy.close();
    environment.close();
  }

  private HintSubscription subscribe(Runnable onMessage) throws Exception {
    HintSubscription subscription = transport.subscribe(CHANNEL, message -> onMessage.run());
    assertThat(get(subscription.ready())).isTrue();
    return subscription;
  }

  private static void publish() {
    server.console().command("PUBLISH", CHANNEL, "");
  }

  private static long subscribers(byte[] channel) {
    List<?> reply = (List<?>) server.console().command("PUBSUB", "NUMSUB", channel);
    return reply == null ? -1 : (Long) reply.get(1);
  }

  private static long subscribedChannels() {
    List<?> reply = (List<?>) server.console().command("PUBSUB", "CHANNELS");
    return reply == null ? -1 : reply.size();
  }

  @Test
  void pubSubConnection_isOpenedByTheFirstSubscriptionOnly() throws Exception {
    assertThat(get(transport.get(bytes("k")))).isNull();
    assertThat(proxy.connections()).isEqualTo(1);
    HintSubscription first = subscribe(() -> {});
    assertThat(proxy.connections()).isEqualTo(2);
    HintSubscription second = transport.subscribe(bytes("other"), message -> {});
    assertThat(get(second.ready())).isTrue();
    first.close();
    second.close();
    until(() -> subscribedChannels() == 0);

    assertThat(proxy.connections()).isEqualTo(2);
  }

  @Test
  void message_afterReady_isAHintForEachSubscription() throws Exception {
    AtomicInteger first = new AtomicInteger();
    AtomicInteger second = new AtomicInteger();
    AtomicInteger other = new AtomicInteger();
    subscribe(first::incrementAndGet);
    subscribe(second::incrementAndGet);
    assertThat(get(transport.subscribe(bytes("other"), message -> other.incrementAndGet()).ready()))
        .isTrue();
    publish();

    until(() -> first.get() == 1 && second.get() == 1);
    assertThat(subscribers(CHANNEL)).isEqualTo(1);
    assertThat(other).hasValue(0);
  }

  @Test
  void channel_isSubscribedWhileAnySubscriptionIsOpen() throws Exception {
    AtomicInteger hints = new AtomicInteger();
    HintSubscription first = subscribe(() -> {});
    HintSubscription second = subscribe(hints::incrementAndGet);
    first.close();
    first.close();
    publish();
    until(() -> hints.get() == 1);
    assertThat(subscribers(CHANNEL)).isEqualTo(1);
    second.close();

    until(() -> subscribers(CHANNEL) == 0);
    until(() -> transport.hints().size() == 0);
    publish();
    assertThat(hints).hasValue(1);
  }

  @Test
  void callback_thatThrows_hurtsNoOther() throws Exception {
    AtomicInteger hints = new AtomicInteger();
    subscribe(
        () -> {
          throw new IllegalStateException("on purpose");
        });
    subscribe(
        () -> {
          throw new AssertionError("on purpose");
        });
    subscribe(hints::incrementAndGet);
    publish();
    until(() -> hints.get() == 1);
    publish();

    until(() -> hints.get() == 2);
  }

  @Test
  void subscription_closedAndReopenedInItsCallback_doesNotDeadlock() throws Exception {
    CompletableFuture<HintSubscription> own = new CompletableFuture<>();
    CompletableFuture<HintSubscription> next = new CompletableFuture<>();
    AtomicInteger hints = new AtomicInteger();
    HintSubscription first =
        subscribe(
            () -> {
              own.join().close();
              next.complete(transport.subscribe(CHANNEL, message -> hints.incrementAndGet()));
            });
    own.complete(first);
    publish();
    assertThat(get(get(next).ready())).isTrue();
    publish();

    until(() -> hints.get() == 1);
  }

  @Test
  void transport_closedInACallback_doesNotDeadlock() throws Exception {
    CompletableFuture<Boolean> closed = new CompletableFuture<>();
    subscribe(
        () -> {
          transport.close();
          closed.complete(true);
        });
    publish();

    assertThat(get(closed)).isTrue();
    until(() -> proxy.connections() == 0);
  }

  @Test
  void quickSubscribeUnsubscribeSubscribe_endsSubscribed() throws Exception {
    for (int round = 0; round < 200; round++) {
      CompletableFuture<Boolean> hinted = new CompletableFuture<>();
      transport.subscribe(CHANNEL, message -> {}).close();
      HintSubscription last = transport.subscribe(CHANNEL, message -> hinted.complete(true));
      transport.subscribe(CHANNEL, message -> {}).close();
      assertThat(get(last.ready())).isTrue();
      assertThat(subscribers(CHANNEL)).isEqualTo(1);
      publish();
      assertThat(get(hinted)).isTrue();
      last.close();
    }
    until(() -> subscribers(CHANNEL) == 0);
  }

  @Test
  void subscription_closedBeforeTheServerConfirmed_completesReady() throws Exception {
    server.pause();
    HintSubscription subscription = transport.subscribe(CHANNEL, message -> {});
    subscription.close();
    server.resume();

    assertThat(get(subscription.ready())).isFalse();
    until(() -> transport.hints().size() == 0);
    until(() -> subscribers(CHANNEL) == 0);
  }

  @Test
  void manyThreads_onFewChannels_leaveNothingBehind() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    List<Future<?>> running = new ArrayList<>();
    for (int t = 0; t < 8; t++) {
      Random random = new Random(t);
      running.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  byte[] channel = bytes("c" + random.nextInt(3));
                  HintSubscription subscription = transport.subscribe(channel, message -> {});
                  if (random.nextBoolean()) {
                    assertThat(get(subscription.ready())).isTrue();
                    assertThat(subscribers(channel)).isEqualTo(1);
                  }
                  subscription.close();
                }
                return null;
              }));
    }
    for (Future<?> each : running) {
      each.get(120, TimeUnit.SECONDS);
    }
    threads.shutdown();

    until(() -> transport.hints().size() == 0);
    until(() -> subscribedChannels() == 0);
  }

  @Test
  void reconnect_subscribesAgain_andHints() throws Exception {
    AtomicInteger hints = new AtomicInteger();
    HintSubscription first = subscribe(hints::incrementAndGet);
    proxy.reset();
    until(() -> hints.get() == 1);
    until(() -> subscribers(CHANNEL) == 1);
    publish();

    until(() -> hints.get() == 2);
    first.close();
    until(() -> subscribers(CHANNEL) == 0);
  }

  @ParameterizedTest
  @EnumSource(ProtocolVersion.class)
  void reconnect_withManyChannels_takesNoConfirmationForAnothers(ProtocolVersion protocol)
      throws Exception {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
    LettuceTransport another =
        open(LettuceRedis.using(client, RedisURI.create(proxy.uri())), environment);
    try {
      List<AtomicInteger> hints = new ArrayList<>();
      List<HintSubscription> subscriptions = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        if (i == 20) {
          proxy.reset();
        }
        AtomicInteger mine = new AtomicInteger();
        hints.add(mine);
        subscriptions.add(another.subscribe(bytes("c" + i), message -> mine.incrementAndGet()));
        if (i < 20) {
          assertThat(get(subscriptions.get(i).ready())).isTrue();
        }
      }
      for (int i = 0; i < 60; i++) {
        int before = hints.get(i).get();
        AtomicInteger mine = hints.get(i);
        assertThat(get(subscriptions.get(i).ready())).isTrue();
        if (i >= 20) {
          assertThat(subscribers(bytes("c" + i))).as("channel %s", i).isEqualTo(1);
        } else {
          byte[] channel = bytes("c" + i);
          until(() -> subscribers(channel) == 1);
        }
        server.console().command("PUBLISH", "c" + i, "");
        until(() -> mine.get() > before);
      }
      for (int i = 0; i < 60; i++) {
        subscriptions.get(i).close();
        if (i % 7 == 3) {
          proxy.reset();
        }
      }
      until(() -> another.hints().size() == 0);
      until(() -> subscribedChannels() == 0);
    } finally {
      another.close();
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void serverRestart_subscribesAgain() throws Exception {
    AtomicInteger hints = new AtomicInteger();
    subscribe(hints::incrementAndGet);
    server.kill();
    HintSubscription meanwhile = transport.subscribe(bytes("meanwhile"), message -> {});
    server.restart();

    until(() -> subscribers(CHANNEL) == 1);
    until(() -> subscribers(bytes("meanwhile")) == 1);
    publish();
    until(() -> hints.get() >= 1);
    meanwhile.close();
    until(() -> subscribers(bytes("meanwhile")) == 0);
  }

  @Test
  void subscriptionsClosedWhileDisconnected_areNotSubscribedAfterwards() throws Exception {
    List<HintSubscription> gone = new ArrayList<>();
    HintSubscription kept = subscribe(() -> {});
    HintSubscription closed = transport.subscribe(bytes("closed"), message -> {});
    assertThat(get(closed.ready())).isTrue();
    proxy.refuse(true);
    proxy.reset();
    until(() -> subscribers(CHANNEL) == 0);
    closed.close();
    for (int i = 0; i < 1000; i++) {
      gone.add(transport.subscribe(bytes("gone" + i), message -> {}));
    }
    gone.forEach(HintSubscription::close);
    until(() -> transport.hints().size() <= 2);
    proxy.heal();

    until(() -> subscribers(CHANNEL) == 1);
    until(() -> subscribedChannels() == 1);
    kept.close();
    until(() -> subscribedChannels() == 0);
    assertThat(transport.hints().size()).isZero();
  }

  @Test
  void ready_withoutConnection_isFalse_andLaterTrueAgain() throws Exception {
    proxy.refuse(true);
    assertThat(get(transport.subscribe(CHANNEL, message -> {}).ready())).isFalse();
    // Within the pause after a failed attempt no other is made.
    assertThat(
            transport.subscribe(CHANNEL, message -> {}).ready().toCompletableFuture().getNow(null))
        .isFalse();
    assertThat(transport.hints().size()).isZero();
    proxy.heal();

    until(() -> get(transport.subscribe(CHANNEL, message -> {}).ready()));
  }

  @Test
  void ready_withoutAnswer_isFalseInTime() throws Exception {
    transport.close();
    transport = open(LettuceRedis.connect(proxy.uri()), environment, Transports.IMPATIENT);
    HintSubscription first = subscribe(() -> {});
    server.pause();
    HintSubscription second = transport.subscribe(bytes("late"), message -> {});

    assertThat(get(second.ready())).isFalse();
    server.resume();
    until(() -> subscribers(bytes("late")) == 1);
    second.close();
    first.close();
    until(() -> transport.hints().size() == 0);
  }

  @Test
  void channelArray_changedByTheCallerLater_changesNothing() throws Exception {
    byte[] channel = bytes("mine");
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription =
        transport.subscribe(channel, message -> hints.incrementAndGet());
    channel[0] = 'X';
    assertThat(get(subscription.ready())).isTrue();
    server.console().command("PUBLISH", "mine", "");

    until(() -> hints.get() == 1);
    subscription.close();
    until(() -> transport.hints().size() == 0);
  }
}
