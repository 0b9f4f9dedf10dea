/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static dev.paddock.redis.jedis.Transports.bytes;
import static dev.paddock.redis.jedis.Transports.failure;
import static dev.paddock.redis.jedis.Transports.get;
import static dev.paddock.redis.jedis.Transports.open;
import static dev.paddock.redis.jedis.Transports.text;
import static dev.paddock.redis.jedis.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.StoreException;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** What becomes of commands when connections break, servers hang or go. */
@Timeout(120)
final class JedisFaultsIT {
  private static final byte[] K = bytes("k");
  private static final byte[][] KEY = {K};
  private static final byte[][] NONE = {};
  private static final byte[] INCR = bytes("return tostring(redis.call('INCR', KEYS[1]))");

  private static RedisServerProcess server;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private FaultProxy proxy;
  private JedisTransport transport;

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
    server.console().command("FLUSHALL");
    server.console().command("CONFIG", "RESETSTAT");
    proxy = FaultProxy.to(server.port());
    transport = open(proxy.uri(), environment);
  }

  @AfterEach
  void close() {
    transport.close();
    proxy.close();
    environment.close();
  }

  private void beImpatient() {
    transport.close();
    transport = open(JedisRedis.connect(proxy.uri()), environment, Transports.IMPATIENT);
  }

  private String counter() {
    Object reply = server.console().command("GET", K);
    return reply instanceof byte[] bytes ? String.valueOf(text(bytes)) : "0";
  }

  private static boolean unsent(CompletionStage<?> stage) throws Exception {
    return failure(stage) instanceof StoreException e && !e.mayHaveHappened();
  }

  @Test
  void getHere_withAnIdleConnection_isAnsweredOnTheCallingThread() throws Exception {
    assertThat(get(transport.get(K))).isNull();
    server.console().command("SET", K, "v");
    Thread here = Thread.currentThread();
    List<Thread> threads = new ArrayList<>();

    CompletionStage<byte[]> reply = transport.getHere(K);

    assertThat(reply.toCompletableFuture()).isCompleted();
    reply.thenAccept(value -> threads.add(Thread.currentThread()));
    assertThat(threads).containsExactly(here);
    assertThat(text(get(reply))).isEqualTo("v");
    assertThat(transport.open()).isZero();
  }

  @Test
  void get_thatIsNotTheCallersToWaitFor_isAnsweredOnAnotherThread() throws Exception {
    assertThat(get(transport.get(K))).isNull();
    server.pause();
    CompletableFuture<byte[]> reply;
    try {
      // Would not come back if it read here.
      reply = transport.get(K).toCompletableFuture();
      assertThat(reply).isNotDone();
    } finally {
      server.resume();
    }
    assertThat(get(reply)).isNull();
  }

  @Test
  void getHere_byAThreadThatIsInterrupted_leavesTheSocketToAnother() throws Exception {
    assertThat(get(transport.get(K))).isNull();
    Thread.currentThread().interrupt();
    CompletionStage<byte[]> reply = transport.getHere(K);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(get(reply)).isNull();
  }

  @Test
  void requestLost_withItsConnection_isSentAgain() throws Exception {
    proxy.blackHoleUp(true);
    CompletableFuture<List<byte[]>> reply = transport.eval(INCR, KEY, NONE).toCompletableFuture();
    assertThat(counter()).isEqualTo("0");
    proxy.heal();
    proxy.reset();

    assertThat(text(get(reply).get(0))).isEqualTo("1");
    assertThat(counter()).isEqualTo("1");
  }

  @Test
  void replyLost_withItsConnection_isAskedForAgain() throws Exception {
    // The reply of a connection that is there already, not of its handshake.
    assertThat(get(transport.get(K))).isNull();
    proxy.blackHoleDown(true);
    CompletableFuture<List<byte[]>> reply = transport.eval(INCR, KEY, NONE).toCompletableFuture();
    until(() -> counter().equals("1"));
    assertThat(reply).isNotDone();
    proxy.heal();
    proxy.cut();

    // Which is why every script must bear being executed twice.
    assertThat(text(get(reply).get(0))).isEqualTo("2");
  }

  @Test
  void idleConnections_thatTheServerHasClosed_failNoRead() throws Exception {
    for (int cut = 0; cut < 10; cut++) {
      assertThat(get(transport.get(K))).isNull();
      proxy.reset();
      assertThat(get(transport.getHere(K))).isNull();
    }
    assertThat(transport.open()).isZero();
  }

  @Test
  void lostConnection_makesAnotherNodeOfTheServer() throws Exception {
    assertThat(get(transport.get(K))).isNull();
    Object node = transport.nodeOf(K);
    assertThat(get(transport.get(K))).isNull();
    assertThat(transport.nodeOf(K)).isEqualTo(node);
    proxy.reset();
    assertThat(get(transport.getHere(K))).isNull();

    assertThat(transport.nodeOf(K)).isNotEqualTo(node);
  }

  @Test
  void silence_failsAfterTheTimeOut_andMayHaveHappened() throws Exception {
    beImpatient();
    assertThat(get(transport.get(K))).isNull();
    proxy.blackHoleDown(true);

    Throwable here = failure(transport.getHere(K));
    // The connection of the read is given up; this one makes its own, which is not answered either.
    Throwable there = failure(transport.eval(INCR, KEY, NONE));

    assertThat(here).isInstanceOf(StoreException.class).hasMessageContaining("no answer");
    assertThat(((StoreException) here).mayHaveHappened()).isTrue();
    assertThat(there).isInstanceOf(StoreException.class);
    proxy.heal();
    until(() -> get(transport.get(K).handle((value, thrown) -> thrown == null)));
  }

  @Test
  void outage_failsCommandsUnsent_andHeals() throws Exception {
    beImpatient();
    assertThat(get(transport.get(K))).isNull();
    server.kill();
    try {
      until(
          () ->
              unsent(transport.get(K))
                  && failure(transport.get(K)).toString().contains("reconnecting"));
      for (int i = 0; i < 2_000; i++) {
        assertThat(unsent(transport.eval(INCR, KEY, NONE))).isTrue();
      }
    } finally {
      server.restart();
    }
    until(() -> get(transport.get(K).handle((value, thrown) -> thrown == null)));
    assertThat(counter()).isEqualTo("0");
    until(() -> transport.open() == 0);
  }

  @Test
  void stoppedServer_underLoad_boundsWhatIsOpen() throws Exception {
    assertThat(get(transport.get(K))).isNull();
    server.pause();
    List<CompletableFuture<byte[]>> open = new ArrayList<>();
    try {
      for (int i = 0; i < JedisTransport.OPEN_COMMANDS_MAX; i++) {
        open.add(transport.get(K).toCompletableFuture());
      }
      CompletableFuture<byte[]> refused = transport.get(K).toCompletableFuture();
      assertThat(refused).isCompletedExceptionally();
      assertThat(unsent(refused)).isTrue();
      assertThat(open).noneMatch(CompletableFuture::isDone);
    } finally {
      server.resume();
    }
    for (CompletableFuture<byte[]> each : open) {
      assertThat(get(each)).isNull();
    }
    assertThat(transport.open()).isZero();
  }

  @Test
  void close_withAServerThatHangs_endsReadsAtOnce() throws Exception {
    transport.close();
    // The command time-out is far beyond the limit of the test.
    transport =
        open(
            JedisRedis.connect(proxy.uri()),
            environment,
            new StoreOptions(Transports.LIMIT, Duration.ofMinutes(10)));
    assertThat(get(transport.get(K))).isNull();
    server.pause();
    try {
      CompletableFuture<byte[]> there = transport.get(K).toCompletableFuture();
      transport.close();
      assertThat(failure(there)).isInstanceOf(StoreException.class);
      assertThat(failure(transport.getHere(K))).isInstanceOf(StoreException.class);
    } finally {
      server.resume();
    }
  }

  @Test
  void largeValues_inBothDirections_arrive() throws Exception {
    byte[] large = new byte[8 * 1024 * 1024];
    large[large.length - 1] = 7;
    byte[] set = bytes("redis.call('SET', KEYS[1], ARGV[1]) return {}");
    get(transport.eval(set, KEY, new byte[][] {large}));

    assertThat(get(transport.getHere(K))).isEqualTo(large);
  }

  @Test
  void connectionThatWasClosed_doesNotConnectAgain() throws Exception {
    OnceConnection connection =
        new OnceConnection(
            new HostAndPort("127.0.0.1", server.port()),
            DefaultJedisClientConfig.builder().database(3).build());
    assertThat(connection.ping()).isTrue();
    connection.forceDisconnect();

    // Jedis's own would be in database 0 from here on.
    assertThatThrownBy(connection::ping).isInstanceOf(JedisConnectionException.class);
  }
}
