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
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class LettuceTransportIT {
  private static final byte[][] NONE = {};

  private static RedisServerProcess server;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void flush() {
    server.console().command("FLUSHALL");
    server.console().command("SCRIPT", "FLUSH");
  }

  @AfterEach
  void close() {
    environment.close();
  }

  @ParameterizedTest
  @EnumSource(ProtocolVersion.class)
  void commands_inBothProtocols_answer(ProtocolVersion protocol) throws Exception {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
    LettuceTransport transport =
        open(LettuceRedis.using(client, RedisURI.create(server.uri())), environment);
    try {
      byte[] key = {0, -1, '\r', '\n', '{', '}'};
      server.console().command("SET", key, bytes("v"));

      assertThat(text(get(transport.get(key)))).isEqualTo("v");
      assertThat(get(transport.get(bytes("missing")))).isNull();

      byte[] script = bytes("return {KEYS[1], ARGV[1], ARGV[2], redis.call('GET', KEYS[1])}");
      byte[][] keys = {key};
      byte[][] args = {bytes(""), {-128, 127, 0}};
      List<byte[]> reply = get(transport.eval(script, keys, args));
      assertThat(reply).containsExactly(key, bytes(""), new byte[] {-128, 127, 0}, bytes("v"));

      String sha = server.console().text("SCRIPT", "LOAD", script);
      assertThat(get(transport.evalsha(sha, keys, args)))
          .containsExactly(key, bytes(""), new byte[] {-128, 127, 0}, bytes("v"));

      long wall = System.currentTimeMillis() * 1000;
      assertThat(get(transport.timeMicros(key))).isBetween(wall - 60_000_000, wall + 60_000_000);

      CompletableFuture<Boolean> hinted = new CompletableFuture<>();
      assertThat(get(transport.subscribe(key, message -> hinted.complete(true)).ready())).isTrue();
      server.console().command("PUBLISH", key, "");
      assertThat(get(hinted)).isTrue();
      assertThat(text(get(transport.get(key)))).isEqualTo("v");
    } finally {
      transport.close();
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void errorReplies_areReplyExceptions_andTheConnectionGoesOn() throws Exception {
    LettuceTransport transport = open(server.uri(), environment);
    byte[][] key = {bytes("k")};
    server.console().command("LPUSH", "list", "x");

    assertThat(failure(transport.evalsha("0".repeat(40), key, NONE)))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("NOSCRIPT");
    assertThat(failure(transport.get(bytes("list"))))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("WRONGTYPE");
    assertThat(
            failure(transport.eval(bytes("return redis.error_reply('NO such luck')"), key, NONE)))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("NO such luck");
    assertThat(failure(transport.eval(bytes("this is no Lua"), key, NONE)))
        .isInstanceOf(RedisReplyException.class);
    assertThat(get(transport.get(bytes("missing")))).isNull();
    assertThat(transport.link().open()).isZero();
    transport.close();
  }

  @Test
  void oddScriptReplies_costNoConnection() throws Exception {
    LettuceTransport transport = open(server.uri(), environment);
    byte[][] key = {bytes("k")};
    Object node = transport.nodeOf(key[0]);

    for (String odd :
        List.of(
            "return 42",
            "return false",
            "return {1, {2, {'three'}}, 4}",
            "return {'a', nil, 'b'}",
            "return {}",
            "return redis.status_reply('FINE')",
            "redis.setresp(3); return {double = 1.5}",
            "redis.setresp(3); return {map = {a = 'b'}}",
            "redis.setresp(3); return {1, true, false}",
            "redis.setresp(3); return {big_number = '3492890328409238509324850943850943825024385'}",
            "redis.setresp(3); return {set = {a = true}}")) {
      assertThat(get(transport.eval(bytes(odd), key, NONE))).as(odd).isNotNull();
    }
    assertThat(transport.nodeOf(key[0])).isEqualTo(node);
    transport.close();
  }

  @Test
  void database_ofTheUri_isUsed() throws Exception {
    LettuceTransport transport = open(server.uri() + "/7", environment);
    get(
        transport.eval(
            bytes("redis.call('SET', KEYS[1], 'seven') return {}"),
            new byte[][] {bytes("k")},
            NONE));

    assertThat(server.console().command("GET", "k")).isNull();
    server.console().command("SELECT", "7");
    assertThat(server.console().text("GET", "k")).isEqualTo("seven");
    server.console().command("SELECT", "0");
    transport.close();
  }

  @Test
  void close_ofAnOwnedClient_leavesNoThreadAndNoConnection() throws Exception {
    Set<Thread> before = threads();
    LettuceTransport transport = open(server.uri(), environment);
    assertThat(get(transport.subscribe(bytes("c"), message -> {}).ready())).isTrue();
    assertThat(get(transport.get(bytes("k")))).isNull();
    assertThat(lettuceThreads(before)).isNotEmpty();
    transport.close();
    transport.close();

    assertThat(failure(transport.get(bytes("k")))).isInstanceOf(StoreException.class);
    assertThat(get(transport.subscribe(bytes("c"), message -> {}).ready())).isFalse();
    until(() -> lettuceThreads(before).isEmpty());
    until(() -> clients() == 0);
  }

  @Test
  void close_withoutAnySubscription_isQuick() {
    LettuceTransport transport = open(server.uri(), environment);
    long start = System.nanoTime();
    transport.close();

    // Not the five seconds after which close gives up waiting.
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(5));
  }

  @Test
  void close_onLettucesThread_doesNotDeadlock() throws Exception {
    Set<Thread> before = threads();
    LettuceTransport transport = open(server.uri(), environment);
    CompletableFuture<Thread> closed = new CompletableFuture<>();
    transport
        .eval(bytes("local i = 0 while i < 1000000 do i = i + 1 end return {}"), NONE, NONE)
        .whenComplete(
            (reply, failed) -> {
              transport.close();
              closed.complete(Thread.currentThread());
            });

    assertThat(get(closed).getName()).contains("lettuce");
    until(() -> lettuceThreads(before).isEmpty());
  }

  @Test
  void close_whileInterrupted_keepsTheFlagAndCloses() {
    Set<Thread> before = threads();
    LettuceTransport transport = open(server.uri(), environment);
    Thread.currentThread().interrupt();
    transport.close();

    assertThat(Thread.interrupted()).isTrue();
    until(() -> lettuceThreads(before).isEmpty());
  }

  @Test
  void close_withCommandsUnderWay_endsThem() throws Exception {
    LettuceTransport transport = open(server.uri(), environment);
    server.pause();
    try {
      CompletableFuture<?> under = transport.get(bytes("k")).toCompletableFuture();
      until(() -> transport.link().open() == 1);
      transport.close();

      // It was on its way, and the stopped server may yet read it.
      assertThat(failure(under))
          .isInstanceOfSatisfying(
              StoreException.class, thrown -> assertThat(thrown.mayHaveHappened()).isTrue());
    } finally {
      server.resume();
    }
  }

  @Test
  void applicationsClient_survivesTheStore() throws Exception {
    RedisClient client = RedisClient.create(server.uri());
    try {
      LettuceTransport transport =
          open(LettuceRedis.using(client, RedisURI.create(server.uri())), environment);
      assertThat(get(transport.subscribe(bytes("c"), message -> {}).ready())).isTrue();
      until(() -> clients() == 2);
      transport.close();

      until(() -> clients() == 0);
      assertThat(client.connect().sync().ping()).isEqualTo("PONG");
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void applicationsClient_withoutReconnect_isRefused() {
    RedisClient client = RedisClient.create(server.uri());
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());

    assertThatIllegalArgumentException()
        .isThrownBy(() -> LettuceRedis.using(client, RedisURI.create(server.uri())))
        .withMessageContaining("autoReconnect");
    client.shutdown(0, 2, TimeUnit.SECONDS);
  }

  @Test
  void applicationsClient_thatWasShutDown_isAStoreException() {
    RedisClient client = RedisClient.create(server.uri());
    client.shutdown(0, 2, TimeUnit.SECONDS);
    LettuceStoreFactory factory =
        (LettuceStoreFactory) LettuceRedis.using(client, RedisURI.create(server.uri()));

    org.assertj.core.api.Assertions.assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> factory.transport(environment, Transports.OPTIONS));
  }

  @Test
  void factory_openedTwice_makesIndependentStores() throws Exception {
    var factory = LettuceRedis.connect(server.uri());
    LettuceTransport first = open(factory, environment);
    LettuceTransport second = open(factory, environment);
    first.close();

    assertThat(get(second.get(bytes("k")))).isNull();
    second.close();
  }

  @Test
  void primaryThatBecameAReplica_isLeftForANewConnection() throws Exception {
    LettuceTransport transport = open(server.uri(), environment);
    Object node = transport.nodeOf(bytes("k"));
    byte[][] key = {bytes("k")};
    byte[] write = bytes("redis.call('SET', KEYS[1], '1') return {}");
    get(transport.eval(write, key, NONE));
    server.console().command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertThat(failure(transport.eval(write, key, NONE)))
          .isInstanceOf(RedisReplyException.class)
          .hasMessageContaining("READONLY");
      until(() -> !transport.nodeOf(bytes("k")).equals(node));
      Object second = transport.nodeOf(bytes("k"));

      // A server that stays a replica does not cost a connection for each write.
      for (int i = 0; i < 20; i++) {
        assertThat(failure(transport.eval(write, key, NONE))).hasMessageContaining("READONLY");
      }
      assertThat(transport.nodeOf(bytes("k"))).isEqualTo(second);
    } finally {
      server.console().command("REPLICAOF", "NO", "ONE");
    }
    get(transport.eval(write, key, NONE));
    transport.close();
  }

  @Test
  void idleTransport_sendsNothing() throws Exception {
    LettuceTransport transport = open(server.uri(), environment);
    assertThat(get(transport.get(bytes("k")))).isNull();
    server.console().command("CONFIG", "RESETSTAT");
    TimeUnit.MILLISECONDS.sleep(1500);

    // CONFIG RESETSTAT counts itself, and so does INFO when it is done.
    assertThat(server.console().text("INFO", "stats"))
        .containsPattern("total_commands_processed:[01]\r\n");
    transport.close();
  }

  private static long clients() {
    return server
        .console()
        .text("CLIENT", "LIST")
        .lines()
        .filter(line -> line.contains("lib-name=Lettuce") || !line.contains("cmd=client"))
        .count();
  }

  private static Set<Thread> threads() {
    return new HashSet<>(Thread.getAllStackTraces().keySet());
  }

  private static Set<String> lettuceThreads(Set<Thread> before) {
    return threads().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> !name.startsWith("paddock-") && !name.startsWith("awaitility"))
        .filter(
            name ->
                Arrays.asList("process reaper", "Attach Listener", "Common-Cleaner").stream()
                    .noneMatch(name::startsWith))
        .collect(Collectors.toSet());
  }
}
