/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.failure;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.text;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.StoreException;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class LettuceFaultsIT {
  private static final byte[] K = bytes("k");
  private static final byte[][] KEY = {K};
  private static final byte[][] NONE = {};
  private static final byte[] INCR = bytes("return {tostring(redis.call('INCR', KEYS[1]))}");

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
    transport = open(LettuceRedis.connect(proxy.uri()), environment, Transports.IMPATIENT);
    until(() -> proxy.connections() == 1);
  }

  private String counter() {
    Object reply = server.console().command("GET", K);
    return reply instanceof byte[] bytes ? String.valueOf(text(bytes)) : "0";
  }

  /** Cuts the connection, and comes back when a new one is there. */
  private void reconnect() {
    Object node = transport.nodeOf(K);
    proxy.reset();
    until(() -> !transport.nodeOf(K).equals(node));
  }

  @Test
  void requestLost_withItsConnection_isSentAgain() throws Exception {
    proxy.blackHoleUp(true);
    CompletableFuture<List<byte[]>> reply = transport.eval(INCR, KEY, NONE).toCompletableFuture();
    CompletableFuture<byte[]> read = transport.get(K).toCompletableFuture();
    assertThat(counter()).isEqualTo("0");
    proxy.heal();
    proxy.reset();

    assertThat(text(get(reply).get(0))).isEqualTo("1");
    assertThat(text(get(read))).isEqualTo("1");
    assertThat(counter()).isEqualTo("1");
  }

  @Test
  void replyLost_withItsConnection_isAskedForAgain() throws Exception {
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
  void blackHole_leavesTheStageOpen_untilTheConnectionGoes() throws Exception {
    proxy.blackHoleDown(true);
    CompletableFuture<byte[]> read = transport.get(K).toCompletableFuture();
    until(() -> server.console().text("INFO", "commandstats").contains("cmdstat_get:"));
    assertThat(read).isNotDone();
    assertThat(transport.link().open()).isEqualTo(1);
    proxy.heal();
    proxy.reset();

    assertThat(get(read)).isNull();
    assertThat(transport.link().open()).isZero();
  }

  @Test
  void blackHole_thatLasts_isLeftForANewConnection() throws Exception {
    beImpatient();
    proxy.blackHoleUp(true);
    CompletableFuture<byte[]> first = transport.get(K).toCompletableFuture();
    // Nothing but our own commands tells that the peer has gone; nobody resets the connection.
    until(
        () -> {
          CompletableFuture<byte[]> read = transport.get(K).toCompletableFuture();
          return read.isCompletedExceptionally() && failsUnsent(read);
        });
    assertThat(first).isNotDone();
    // The next connection's handshake went into the hole, too.
    proxy.heal();
    proxy.reset();

    assertThat(get(first)).isNull();
    until(() -> works(transport.get(K)));
  }

  @Test
  void shortCuts_failNoRead() throws Exception {
    List<CompletableFuture<byte[]>> reads = new ArrayList<>();
    for (int cut = 0; cut < 10; cut++) {
      Object node = transport.nodeOf(K);
      proxy.reset();
      until(
          () -> {
            reads.add(transport.get(K).toCompletableFuture());
            return !transport.nodeOf(K).equals(node);
          });
    }
    for (CompletableFuture<byte[]> read : reads) {
      assertThat(get(read)).isNull();
    }
    assertThat(transport.link().open()).isZero();
  }

  @Test
  void outage_failsCommandsUnsent_andBuildsUpNothing() throws Exception {
    beImpatient();
    assertThat(get(transport.get(K))).isNull();
    server.kill();
    try {
      until(
          () ->
              failsUnsent(transport.get(K))
                  // At once, not after a wait: the bridge is over.
                  && transport.get(K).toCompletableFuture().isCompletedExceptionally());
      int before = transport.link().open();
      for (int i = 0; i < 20_000; i++) {
        CompletableFuture<?> failed = transport.eval(INCR, KEY, NONE).toCompletableFuture();
        assertThat(failed).isCompletedExceptionally();
      }
      assertThat(transport.link().open()).isEqualTo(before);
      assertThat(failsUnsent(transport.eval(INCR, KEY, NONE))).isTrue();
    } finally {
      server.restart();
    }

    until(() -> works(transport.get(K)));
    assertThat(counter()).isEqualTo("0");
    assertThat(transport.link().open()).isZero();
  }

  private static boolean works(CompletionStage<?> stage) throws Exception {
    return get(stage.handle((value, thrown) -> thrown == null));
  }

  private static boolean failsUnsent(CompletionStage<?> stage) throws Exception {
    Throwable thrown = failure(stage);
    assertThat(thrown).isInstanceOf(StoreException.class);
    return !((StoreException) thrown).mayHaveHappened();
  }

  @Test
  void serverRestart_heals_andForgetsScripts() throws Exception {
    String sha = server.console().text("SCRIPT", "LOAD", INCR);
    get(transport.evalsha(sha, KEY, NONE));
    Object node = transport.nodeOf(K);
    server.kill();
    server.restart();
    until(() -> !transport.nodeOf(K).equals(node));

    assertThat(failure(transport.evalsha(sha, KEY, NONE))).hasMessageContaining("NOSCRIPT");
    assertThat(text(get(transport.eval(INCR, KEY, NONE)).get(0))).isEqualTo("1");
  }

  @Test
  void stoppedServer_answersWhenItGoesOn() throws Exception {
    server.pause();
    CompletableFuture<List<byte[]>> reply;
    try {
      reply = transport.eval(INCR, KEY, NONE).toCompletableFuture();
      assertThat(reply).isNotDone();
    } finally {
      server.resume();
    }

    assertThat(text(get(reply).get(0))).isEqualTo("1");
  }

  @Test
  void stoppedServer_underLoad_boundsWhatIsOpen() throws Exception {
    server.pause();
    List<CompletableFuture<byte[]>> open = new ArrayList<>();
    List<CompletableFuture<byte[]>> refused = new ArrayList<>();
    try {
      for (int i = 0; i < LettuceTransport.OPEN_COMMANDS_MAX + 1000; i++) {
        CompletableFuture<byte[]> read = transport.get(K).toCompletableFuture();
        (i < LettuceTransport.OPEN_COMMANDS_MAX ? open : refused).add(read);
      }
      assertThat(transport.link().open()).isEqualTo(LettuceTransport.OPEN_COMMANDS_MAX);
      for (CompletableFuture<byte[]> each : refused) {
        assertThat(each).isCompletedExceptionally();
      }
      assertThat(failsUnsent(refused.get(0))).isTrue();
      assertThat(open).noneMatch(CompletableFuture::isDone);
    } finally {
      server.resume();
    }
    for (CompletableFuture<byte[]> each : open) {
      assertThat(get(each)).isNull();
    }
    assertThat(transport.link().open()).isZero();
  }

  @Test
  void abortedConnections_inQuickSuccession_loseNoCommand() throws Exception {
    List<CompletableFuture<List<byte[]>>> replies = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      replies.add(transport.eval(INCR, KEY, NONE).toCompletableFuture());
      if (i % 50 == 25) {
        proxy.reset();
      }
      if (i % 50 == 49) {
        reconnect();
      }
    }
    for (CompletableFuture<List<byte[]>> reply : replies) {
      get(reply);
    }
    assertThat(Integer.parseInt(counter())).isGreaterThanOrEqualTo(300);
  }

  @Test
  void largeValues_inBothDirections_arrive() throws Exception {
    byte[] large = new byte[8 * 1024 * 1024];
    large[large.length - 1] = 7;
    byte[] set = bytes("redis.call('SET', KEYS[1], ARGV[1]) return {}");
    get(transport.eval(set, KEY, new byte[][] {large}));
    List<CompletableFuture<byte[]>> reads =
        Stream.generate(() -> transport.get(K).toCompletableFuture()).limit(5).toList();

    for (CompletableFuture<byte[]> read : reads) {
      assertThat(get(read)).isEqualTo(large);
    }
  }
}
