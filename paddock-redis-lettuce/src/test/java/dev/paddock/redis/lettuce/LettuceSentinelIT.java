/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.open;
import static dev.paddock.redis.lettuce.Transports.text;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.paddock.StoreException;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreOptions;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SentinelGroup;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One group for all tests: each leaves it in sync, with whatever primary. */
final class LettuceSentinelIT {
  private static final String PASSWORD = "hunter22-s3cret";
  private static final byte[] K = bytes("k");
  private static final byte[][] KEY = {K};
  private static final byte[][] NONE = {};
  private static final byte[] WRITE = bytes("redis.call('SET', KEYS[1], '1') return {}");

  private static SentinelGroup group;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private Logs logs;

  @BeforeAll
  static void start() {
    group = SentinelGroup.start();
    for (RedisServerProcess sentinel : group.sentinels()) {
      sentinel.console().command("ACL", "SETUSER", "watch", "on", ">" + PASSWORD, "&*", "+@all");
    }
  }

  @AfterAll
  static void stop() {
    group.close();
  }

  @BeforeEach
  void log() {
    logs = new Logs();
    group.awaitSync();
  }

  @AfterEach
  void password_isInNoLog() {
    environment.close();
    logs.close();
    assertThat(logs.lines()).noneMatch(line -> line.contains(PASSWORD));
  }

  private static RedisURI uri(String password) {
    RedisURI.Builder uri = RedisURI.builder().withSentinelMasterId(SentinelGroup.NAME);
    for (RedisServerProcess sentinel : group.sentinels()) {
      uri.withSentinel(
          RedisURI.builder()
              .withHost("127.0.0.1")
              .withPort(sentinel.port())
              .withAuthentication("watch", password.toCharArray())
              .build());
    }
    return uri.build();
  }

  private StoreException refusal(StoreFactory factory, Duration connectTimeout) {
    Throwable thrown =
        catchThrowable(
            () ->
                ((LettuceStoreFactory) factory)
                    .open(environment, new StoreOptions(connectTimeout, Duration.ofSeconds(1))));
    assertThat(thrown).isInstanceOf(StoreException.class);
    StringWriter all = new StringWriter();
    thrown.printStackTrace(new PrintWriter(all));
    assertThat(all.toString()).doesNotContain(PASSWORD);
    return (StoreException) thrown;
  }

  private StoreException refusal(StoreFactory factory) {
    return refusal(factory, Transports.OPTIONS.connectTimeout());
  }

  @Test
  void sentinelsWithPassword_areAsked() throws Exception {
    LettuceTransport transport = open(LettuceRedis.connect(uri(PASSWORD)), environment);
    assertThat(get(transport.eval(WRITE, KEY, NONE))).isEmpty();
    assertThat(group.primary().connect().text("GET", "k")).isEqualTo("1");
    transport.close();
  }

  @Test
  void sentinelsWithWrongPassword_areSaid() {
    assertThat(refusal(LettuceRedis.connect(uri(PASSWORD + "x"))))
        .hasMessageContaining("mymaster of the Sentinels " + group.addresses())
        .hasMessageContaining("no Sentinel could be asked")
        .hasMessageContaining("WRONGPASS");
  }

  @Test
  void nameThatTheSentinelsDoNotKnow_isSaid() {
    assertThat(
            refusal(
                LettuceRedis.connect(
                    "redis-sentinel://u:" + PASSWORD + "@" + group.addresses() + "#other")))
        .hasMessageContaining("other of the Sentinels")
        .hasMessageContaining("know no primary of that name");
  }

  @Test
  void passwordOfThePrimaryThatIsWrong_isSaid() {
    assertThat(
            refusal(
                LettuceRedis.connect(
                    "redis-sentinel://u:" + PASSWORD + "@" + group.addresses() + "#mymaster")))
        .hasMessageContaining("WRONGPASS")
        .hasMessageNotContaining("no Sentinel");
  }

  @Test
  void sentinelsThatAreNotThere_areSaid() {
    assertThat(
            refusal(
                LettuceRedis.connect(
                    "redis-sentinel://u:" + PASSWORD + "@127.0.0.1:1,127.0.0.1:2#m")))
        .hasMessageContaining("no Sentinel could be asked")
        .hasMessageContaining("refused");
  }

  @Test
  void sentinelThatHangs_isPassedOver() throws Exception {
    RedisServerProcess first = group.sentinels().get(0);
    first.pause();
    try {
      LettuceTransport transport =
          open(
              LettuceRedis.connect(group.uri()),
              environment,
              new StoreOptions(Duration.ofSeconds(12), Duration.ofSeconds(5)));
      assertThat(get(transport.eval(WRITE, KEY, NONE))).isEmpty();
      transport.close();
    } finally {
      first.resume();
    }
  }

  @Test
  void failover_movesCommandsHintsAndClock() throws Exception {
    LettuceTransport transport = open(group.uri(), environment);
    AtomicInteger hints = new AtomicInteger();
    assertThat(get(transport.subscribe(K, message -> hints.incrementAndGet()).ready())).isTrue();
    Object node = transport.nodeOf(K);

    RedisServerProcess next = group.awaitNewPrimary(group.failover());
    group.awaitSync();
    until(() -> !transport.nodeOf(K).equals(node));
    get(transport.eval(WRITE, KEY, NONE));
    try (RedisCommands primary = next.connect()) {
      assertThat(primary.text("GET", "k")).isEqualTo("1");
      hints.set(0);
      until(
          () -> {
            primary.command("PUBLISH", K, "");
            return hints.get() > 0;
          });
      // A replica passes messages on; the subscription itself is on the new primary, too.
      until(() -> subscribers(primary) == 1);
    }
    assertThat(get(transport.timeMicros(K))).isPositive();
    transport.close();
  }

  private static int subscribers(RedisCommands server) {
    return ((java.util.List<?>)
            java.util.Objects.requireNonNull(server.command("PUBSUB", "CHANNELS", "k")))
        .size();
  }

  @Test
  void failover_movesAnApplicationsClient() throws Exception {
    RedisClient client = RedisClient.create();
    try {
      LettuceTransport transport =
          open(LettuceRedis.using(client, RedisURI.create(group.uri())), environment);
      get(transport.eval(WRITE, KEY, NONE));
      Object node = transport.nodeOf(K);
      RedisServerProcess next = group.awaitNewPrimary(group.failover());
      group.awaitSync();
      until(() -> !transport.nodeOf(K).equals(node));
      get(transport.eval(bytes("redis.call('SET', KEYS[1], '2') return {}"), KEY, NONE));
      assertThat(next.connect().text("GET", "k")).isEqualTo("2");
      transport.close();
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void replicaReads_followTheFailover_andScriptsGoToThePrimary() throws Exception {
    LettuceTransport transport =
        open(LettuceRedis.connect(group.uri(), ReadFrom.REPLICA_PREFERRED), environment);
    get(transport.eval(WRITE, KEY, NONE));
    group.awaitSync();
    RedisServerProcess primary = group.primary();
    long before = gets(primary);
    for (int i = 0; i < 20; i++) {
      assertThat(text(get(transport.get(K)))).isEqualTo("1");
    }
    assertThat(gets(primary)).isEqualTo(before);
    Object node = transport.nodeOf(K);
    group.awaitNewPrimary(group.failover());
    group.awaitSync();
    until(() -> !transport.nodeOf(K).equals(node));
    get(transport.eval(bytes("redis.call('SET', KEYS[1], '3') return {}"), KEY, NONE));
    group.awaitSync();
    until(() -> "3".equals(text(get(transport.get(K)))));
    transport.close();
  }

  private static long gets(RedisServerProcess server) {
    try (RedisCommands commands = server.connect()) {
      return commands
          .text("INFO", "commandstats")
          .lines()
          .filter(line -> line.startsWith("cmdstat_get:calls="))
          .mapToLong(line -> Long.parseLong(line.replaceAll(".*calls=(\\d+),.*", "$1")))
          .sum();
    }
  }
}
