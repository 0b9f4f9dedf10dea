/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.FakeServer.bulk;
import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.failure;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.paddock.PaddockInterruptedException;
import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.redis.internal.Secrets;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.FaultProxy;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class LettuceOpenIT {
  private static final String PASSWORD = "hunter22-s3cret";
  private static final byte[][] KEY = {bytes("k")};
  private static final byte[][] NONE = {};

  private static RedisServerProcess server;
  private static RedisServerProcess guarded;
  private static RedisCommands admin;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private Logs logs;
  private boolean echoing;

  @BeforeAll
  static void start() {
    server = RedisServerProcess.start();
    guarded = RedisServerProcess.start();
    admin = guarded.connect();
    admin.command("ACL", "SETUSER", "boss", "on", ">boss", "~*", "&*", "+@all");
    admin.command("AUTH", "boss", "boss");
    admin.command("ACL", "SETUSER", "default", "resetpass", ">" + PASSWORD);
    admin.command("ACL", "SETUSER", "alice", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    admin.command("ACL", "SETUSER", "deaf", "on", ">" + PASSWORD, "~*", "resetchannels", "+@all");
    admin.command("ACL", "SETUSER", "blind", "on", ">" + PASSWORD, "~*", "&*", "+@all", "-info");
    admin.command(
        "ACL", "SETUSER", "clueless", "on", ">" + PASSWORD, "~*", "&*", "+@all", "-info", "-hello");
    admin.command("ACL", "SETUSER", "fixed", "on", ">" + PASSWORD, "~*", "&*", "+@all", "-select");
  }

  @AfterAll
  static void stop() {
    admin.close();
    guarded.close();
    server.close();
  }

  @BeforeEach
  void log() {
    logs = new Logs();
  }

  /** After each test, whatever it was about. */
  @AfterEach
  void password_isInNoLog() {
    environment.close();
    logs.close();
    assertThat(logs.lines())
        .filteredOn(line -> !(echoing && line.contains(" DEBUG ")))
        .noneMatch(line -> line.contains(PASSWORD));
  }

  /**
   * Lettuce's DEBUG log holds each reply, and so do its DEBUG exceptions; when a server repeats the
   * password that can't be helped.
   */
  private void allowLettuceToDebugReplies() {
    echoing = true;
  }

  private static String as(String user, String password) {
    return "redis://" + user + ":" + password + "@127.0.0.1:" + guarded.port();
  }

  /** Opens what can't be opened, and checks that no exception holds the password. */
  private StoreException refusal(String uri, Duration connectTimeout) {
    LettuceStoreFactory factory = (LettuceStoreFactory) LettuceRedis.connect(uri);
    Throwable thrown =
        catchThrowable(
            () ->
                factory.open(environment, new StoreOptions(connectTimeout, Duration.ofSeconds(1))));
    assertThat(thrown).isInstanceOf(StoreException.class);
    assertThat(messages(thrown)).noneMatch(message -> message.contains(PASSWORD));
    assertThat(((StoreException) thrown).mayHaveHappened()).isFalse();
    return (StoreException) thrown;
  }

  private StoreException refusal(String uri) {
    return refusal(uri, Transports.OPTIONS.connectTimeout());
  }

  private static List<String> messages(Throwable thrown) {
    List<String> messages = new ArrayList<>();
    collect(thrown, messages, Collections.newSetFromMap(new IdentityHashMap<>()));
    return messages;
  }

  private static void collect(
      @Nullable Throwable thrown, List<String> messages, Set<Throwable> seen) {
    if (thrown != null && seen.add(thrown)) {
      messages.add(thrown.toString());
      collect(thrown.getCause(), messages, seen);
      for (Throwable suppressed : thrown.getSuppressed()) {
        collect(suppressed, messages, seen);
      }
    }
  }

  @Test
  void store_ofTheProvider_opensAndCloses() {
    FillStore store =
        new LettuceStoreProvider().factory(server.uri()).open(environment, Transports.OPTIONS);
    assertThat(store.nowMillis(StoreKey.of("k"))).isPositive();
    until(() -> clients() == 1);
    store.close();

    until(() -> clients() == 0);
  }

  @Test
  void user_withRightPassword_isLetIn() throws Exception {
    LettuceTransport transport = open(as("alice", PASSWORD) + "/3", environment);
    assertThat(get(transport.get(KEY[0]))).isNull();
    assertThat(get(transport.eval(bytes("return {'x'}"), KEY, NONE))).hasSize(1);
    assertThat(get(transport.subscribe(KEY[0], message -> {}).ready())).isTrue();
    transport.close();
  }

  @Test
  void defaultUser_withRightPassword_isLetIn() throws Exception {
    LettuceTransport transport = open(as("", PASSWORD), environment);
    assertThat(get(transport.get(KEY[0]))).isNull();
    transport.close();
  }

  @Test
  void wrongPassword_isSaid() {
    assertThat(refusal(as("alice", PASSWORD + "x")))
        .hasMessageContaining("127.0.0.1:" + guarded.port())
        .hasMessageContaining("WRONGPASS")
        .hasMessageContaining("check both in the URI");
  }

  @Test
  void missingPassword_isSaid() {
    assertThat(refusal("redis://127.0.0.1:" + guarded.port()))
        .hasMessageContaining("NOAUTH")
        .hasMessageContaining("put user and password into the URI");
  }

  @Test
  void wrongDatabase_isSaid() {
    assertThat(refusal(server.uri() + "/99"))
        .hasMessageContaining("no database 99")
        .hasMessageContaining("DB index is out of range");
  }

  @Test
  void missingRight_isSaid() {
    assertThat(refusal(as("fixed", PASSWORD) + "/1"))
        .hasMessageContaining("NOPERM")
        .hasMessageContaining("SELECT");
  }

  @Test
  void portWithoutServer_isSaid() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    assertThat(refusal("redis://u:" + PASSWORD + "@127.0.0.1:" + port))
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("refused")
        .hasCauseInstanceOf(Exception.class);
  }

  @Test
  void unknownHost_isSaid() {
    assertThat(refusal("redis://u:" + PASSWORD + "@no-such-host.invalid"))
        .hasMessageContaining("no-such-host.invalid:6379")
        .hasMessageContaining("host name");
  }

  @Test
  void serverThatNeverAnswers_endsWithTheConnectTimeout() throws Exception {
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      long start = System.nanoTime();
      assertThat(
              refusal(
                  "redis://u:" + PASSWORD + "@127.0.0.1:" + deaf.getLocalPort(),
                  Duration.ofMillis(300)))
          .hasMessageContaining("connectTimeout of 300 ms");
      assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(20));
    }
  }

  @Test
  void serverThatIsStopped_endsWithTheConnectTimeout() {
    server.pause();
    try {
      assertThat(refusal(server.uri(), Duration.ofMillis(300)))
          .hasMessageContaining("connectTimeout of 300 ms");
    } finally {
      server.resume();
    }
  }

  @Test
  void serverThatHangsUp_isSaid() {
    FaultProxy proxy = FaultProxy.to(server.port());
    proxy.refuse(true);
    assertThat(refusal("redis://u:" + PASSWORD + "@127.0.0.1:" + proxy.port()))
        .hasMessageContaining("127.0.0.1:" + proxy.port());
    proxy.close();
  }

  @Test
  void serverThatSaysSomethingElse_isAStoreException() throws Exception {
    try (FakeServer web = new FakeServer(request -> "HTTP/1.1 400 Bad Request\r\n\r\n")) {
      refusal("redis://u:" + PASSWORD + "@127.0.0.1:" + web.port(), Duration.ofSeconds(2));
    }
  }

  @Test
  void version_tooOld_isSaid() throws Exception {
    try (FakeServer old = FakeServer.ofVersion("6.0.9")) {
      assertThat(refusal("redis://127.0.0.1:" + old.port()))
          .hasMessageContaining("6.0.9")
          .hasMessageContaining("Redis 6.2 or later")
          .hasMessageContaining("Valkey 7.2");
    }
  }

  @Test
  void version_oldEnough_isAccepted() throws Exception {
    try (FakeServer just = FakeServer.ofVersion("6.2.0")) {
      LettuceRedis.connect("redis://127.0.0.1:" + just.port())
          .open(environment, Transports.OPTIONS)
          .close();
    }
  }

  @Test
  void version_tooOld_isSeenInHelloWithoutInfo() throws Exception {
    try (FakeServer old =
        new FakeServer(
            request ->
                switch (request.get(0)) {
                  case "HELLO" -> FakeServer.hello("6.0.9");
                  case "CLIENT" -> "+OK\r\n";
                  default -> "-NOPERM this user has no permissions\r\n";
                })) {
      assertThat(refusal("redis://127.0.0.1:" + old.port())).hasMessageContaining("6.0.9");
    }
  }

  @Test
  void version_tooOldForResp3_isSaid() throws Exception {
    allowLettuceToDebugReplies();
    try (FakeServer ancient =
        new FakeServer(
            request ->
                switch (request.get(0)) {
                  case "HELLO" -> "-ERR unknown command `HELLO`, with args: " + request + "\r\n";
                  case "AUTH", "PING", "CLIENT" -> "+OK\r\n";
                  case "INFO" -> bulk("# Server\r\nredis_version:5.0.14\r\n");
                  default -> "-ERR unknown command\r\n";
                })) {
      assertThat(refusal("redis://u:" + PASSWORD + "@127.0.0.1:" + ancient.port()))
          .hasMessageContaining("5.0.14");
    }
  }

  @Test
  void userWithoutInfo_isLetIn() throws Exception {
    LettuceTransport transport = open(as("blind", PASSWORD), environment);
    assertThat(failure(transport.info())).isInstanceOf(RedisReplyException.class);
    assertThat(get(transport.get(KEY[0]))).isNull();
    transport.close();
  }

  @Test
  void userWithoutInfoAndHello_onResp2_isLetIn() throws Exception {
    // In RESP3 the handshake itself is a HELLO.
    RedisClient client = RedisClient.create();
    client.setOptions(
        io.lettuce.core.ClientOptions.builder()
            .protocolVersion(io.lettuce.core.protocol.ProtocolVersion.RESP2)
            .build());
    try {
      LettuceTransport transport =
          open(LettuceRedis.using(client, RedisURI.create(as("clueless", PASSWORD))), environment);
      assertThat(get(transport.get(KEY[0]))).isNull();
      transport.close();
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void userWithoutChannels_worksWithoutHints() throws Exception {
    LettuceTransport transport = open(as("deaf", PASSWORD), environment);
    assertThat(get(transport.subscribe(KEY[0], message -> {}).ready())).isFalse();
    assertThat(get(transport.subscribe(KEY[0], message -> {}).ready())).isFalse();
    assertThat(transport.hints().size()).isZero();
    assertThat(get(transport.get(KEY[0]))).isNull();
    assertThat(get(transport.eval(bytes("return {'x'}"), KEY, NONE))).hasSize(1);
    transport.close();

    assertThat(logs.lines().stream().filter(line -> line.contains("refuses subscriptions")))
        .as("one warning, not one for each wait")
        .hasSize(1);
  }

  @Test
  void serverThatRepeatsThePassword_isNotRepeated() throws Exception {
    allowLettuceToDebugReplies();
    try (FakeServer echo =
        new FakeServer(request -> "-ERR unknown command, with args: " + request + "\r\n")) {
      assertThat(refusal("redis://u:" + PASSWORD + "@127.0.0.1:" + echo.port()))
          .hasMessageContaining(Secrets.HIDDEN);
    }
  }

  @Test
  void passwordThatNoLongerHolds_isInNoExceptionOfACommand() throws Exception {
    admin.command("ACL", "SETUSER", "leaver", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    LettuceTransport transport =
        open(LettuceRedis.connect(as("leaver", PASSWORD)), environment, Transports.IMPATIENT);
    assertThat(get(transport.get(KEY[0]))).isNull();
    admin.command("ACL", "DELUSER", "leaver");
    until(
        () -> {
          Throwable thrown = failure(transport.get(KEY[0]));
          assertThat(thrown).isInstanceOf(StoreException.class);
          assertThat(messages(thrown)).noneMatch(message -> message.contains(PASSWORD));
          return !((StoreException) thrown).mayHaveHappened();
        });

    // And it heals when the user is back.
    admin.command("ACL", "SETUSER", "leaver", "on", ">" + PASSWORD, "~*", "&*", "+@all");
    until(() -> get(transport.get(KEY[0]).handle((value, thrown) -> thrown == null)));
    transport.close();
  }

  @Test
  void interruptedThread_opensNothing_andKeepsItsFlag() {
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(PaddockInterruptedException.class)
        .isThrownBy(() -> open(server.uri(), environment));

    assertThat(Thread.interrupted()).isTrue();
    until(() -> clients() == 0);
  }

  @Test
  void failedOpening_leavesNoThreadAndNoConnection() throws Exception {
    refusal(server.uri() + "/99");
    try (FakeServer old = FakeServer.ofVersion("6.0.9")) {
      refusal("redis://127.0.0.1:" + old.port());
    }
    RedisClient client = RedisClient.create();
    Throwable thrown =
        catchThrowable(
            () ->
                open(
                    LettuceRedis.using(client, RedisURI.create(server.uri() + "/99")),
                    environment));
    assertThat(thrown).isInstanceOf(StoreException.class);

    until(() -> clients() == 0);
    client.shutdown(0, 2, TimeUnit.SECONDS);
    until(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("lettuce-")));
  }

  private static long clients() {
    return server
        .console()
        .text("CLIENT", "LIST")
        .lines()
        .filter(line -> !line.contains("cmd=client"))
        .count();
  }
}
