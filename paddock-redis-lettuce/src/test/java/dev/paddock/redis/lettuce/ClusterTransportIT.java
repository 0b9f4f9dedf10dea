/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.IMPATIENT;
import static dev.paddock.redis.lettuce.Transports.OPTIONS;
import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.failure;
import static dev.paddock.redis.lettuce.Transports.get;
import static dev.paddock.redis.lettuce.Transports.text;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.StoreException;
import dev.paddock.redis.RedisReplyException;
import dev.paddock.spi.AcquireReply;
import dev.paddock.spi.AcquireRequest;
import dev.paddock.spi.FillOutcome;
import dev.paddock.spi.FillRequest;
import dev.paddock.spi.FillStore;
import dev.paddock.spi.HintSubscription;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreFactory;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoreOptions;
import dev.paddock.spi.StoredEntry;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisClusterProcess.SlotMigration;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** On a real cluster, whose slots and masters change. */
final class ClusterTransportIT {
  private static final byte[] COUNT =
      bytes(
          "redis.call('SET', KEYS[2], 'l', 'PX', '600000')"
              + " return {tostring(redis.call('INCR', KEYS[1]))}");
  private static final byte[][] NONE = {};

  private static RedisClusterProcess cluster;
  private final RealTimeEnvironment environment = RealTimeEnvironment.create();
  private ClusterTransport transport;

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @BeforeEach
  void connect() {
    transport = opened(OPTIONS);
  }

  @AfterEach
  void close() {
    transport.close();
    environment.close();
  }

  private ClusterTransport opened(StoreOptions options) {
    return ((ClusterStoreFactory) LettuceRedis.connect(cluster.uri()))
        .transport(environment, options);
  }

  private void beImpatient() {
    transport.close();
    transport = opened(IMPATIENT);
  }

  private static byte[][] pair(String tag) {
    return new byte[][] {bytes("v{" + tag + "}"), bytes("l{" + tag + "}")};
  }

  private String count(byte[][] keys) throws Exception {
    return String.valueOf(text(get(transport.eval(COUNT, keys, NONE)).get(0)));
  }

  private static SlotMigration away(byte[] key) {
    int slot = RedisClusterProcess.slotOf(key);
    return cluster.migrate(slot, cluster.otherMaster(slot));
  }

  static Stream<byte[]> keys() {
    byte[] binary = new byte[256];
    for (int i = 0; i < binary.length; i++) {
      binary[i] = (byte) i;
    }
    return Stream.concat(
        Stream.of(
                "}a",
                "}",
                "",
                "a}b",
                "{a}",
                "x{y}z",
                "{}a",
                "{",
                "{{a}}",
                "ключ-鍵-🔑",
                "a\r\nb\n",
                "k".repeat(64 * 1024))
            .map(Transports::bytes),
        Stream.of(binary));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void key_ofAnyBytes_isFilledAndRead(byte[] bytes) throws Exception {
    StoreKey key = StoreKey.of(bytes);
    FillStore store = LettuceRedis.connect(cluster.uri()).open(environment, OPTIONS);
    try {
      String owner = "0123456789abcdef0123456789abcdef";
      AcquireReply lease =
          get(
              store.acquire(
                  new AcquireRequest(
                      key,
                      owner,
                      60_000,
                      600_000,
                      7,
                      AcquireRequest.Mode.NORMAL,
                      false,
                      null,
                      60_000)));
      assertThat(lease.status()).isEqualTo(AcquireReply.Status.GRANTED);
      long soft = store.nowMillis(key) + 600_000;
      StoredEntry entry =
          new StoredEntry(false, false, soft, 1, 1, lease.epoch(), lease.seq(), 1, bytes("value"));
      assertThat(get(store.fill(new FillRequest(key, owner, entry, 600_000))))
          .isEqualTo(FillOutcome.STORED);
      assertThat(get(store.read(key)))
          .isInstanceOfSatisfying(
              ReadReply.Found.class,
              found -> assertThat(found.entry().payload()).isEqualTo(bytes("value")));
      get(store.invalidate(key, 0));
      assertThat(get(store.read(key))).isEqualTo(ReadReply.MISSING);
    } finally {
      store.close();
    }
  }

  @Test
  void slots_areTheServers() {
    keys()
        .forEach(
            key ->
                assertThat(cluster.nodes().get(0).console().command("CLUSTER", "KEYSLOT", key))
                    .isEqualTo((long) io.lettuce.core.cluster.SlotHash.getSlot(key)));
  }

  @Test
  void oneNode_namedAlone_isFoundToBeOfACluster() throws Exception {
    RedisServerProcess node = cluster.nodes().get(4);
    FillStore store = LettuceRedis.connect(node.uri()).open(environment, OPTIONS);
    try {
      for (int i = 0; i < 20; i++) {
        assertThat(get(store.read(StoreKey.of("alone-" + i)))).isEqualTo(ReadReply.MISSING);
      }
    } finally {
      store.close();
    }
  }

  @Test
  void redisClient_ofTheApplication_isRefusedWithAdvice() {
    RedisClient client = RedisClient.create();
    try {
      StoreFactory factory =
          LettuceRedis.using(client, RedisURI.create(cluster.nodes().get(0).uri()));
      assertThatThrownBy(() -> factory.open(environment, OPTIONS))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("LettuceRedis.using(RedisClusterClient)");
    } finally {
      client.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  @Test
  void listOfServers_thatAreNoCluster_isRefusedWithAdvice() {
    try (RedisServerProcess single = RedisServerProcess.start()) {
      StoreFactory factory = LettuceRedis.connect(single.uri() + ",127.0.0.1:" + single.port());
      assertThatThrownBy(() -> factory.open(environment, OPTIONS))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("no node of a cluster");
    }
  }

  @Test
  void nodeAndTime_areThoseOfTheKeysMaster() throws Exception {
    byte[] one = bytes("one");
    get(transport.get(one));
    Object node = transport.nodeOf(one);
    assertThat(node).isEqualTo(transport.nodeOf(bytes("x{one}")));
    assertThat(String.valueOf(node)).contains(":" + cluster.masterOf(one).port());
    assertThat(get(transport.timeMicros(one))).isGreaterThan(1_700_000_000_000_000L);
  }

  @Test
  void slotMovedAway_commandFollows_andTheTopologyToo() throws Exception {
    byte[][] keys = pair("moved");
    assertThat(count(keys)).isEqualTo("1");
    Object before = transport.nodeOf(keys[0]);
    away(keys[0]).run();

    assertThat(count(keys)).isEqualTo("2");
    assertThat(text(get(transport.get(keys[0])))).isEqualTo("2");
    until(() -> !transport.nodeOf(keys[0]).equals(before));
    assertThat(String.valueOf(transport.nodeOf(keys[0])))
        .contains(":" + cluster.masterOf(keys[0]).port());
  }

  @Test
  void slotOnItsWay_keysThatHaveMoved_areAskedForThere() throws Exception {
    byte[][] keys = pair("ask");
    assertThat(count(keys)).isEqualTo("1");
    SlotMigration migration = away(keys[0]);
    migration.begin();
    assertThat(count(keys)).isEqualTo("2");
    migration.moveAll();

    assertThat(count(keys)).isEqualTo("3");
    assertThat(text(get(transport.get(keys[0])))).isEqualTo("3");
    migration.finish();
    assertThat(count(keys)).isEqualTo("4");
  }

  @Test
  void slotOnItsWay_keysAtBothEnds_waitsForTheRest() throws Exception {
    byte[][] keys = pair("both");
    assertThat(count(keys)).isEqualTo("1");
    SlotMigration migration = away(keys[0]);
    migration.begin();
    migration.move(keys[1]);
    CompletableFuture<List<byte[]>> reply = transport.eval(COUNT, keys, NONE).toCompletableFuture();
    until(() -> transport.pausing() == 1);
    assertThat(reply).isNotDone();
    migration.moveAll();

    assertThat(text(get(reply).get(0))).isEqualTo("2");
    migration.finish();
    assertThat(transport.pausing()).isZero();
  }

  @Test
  void slotOnItsWay_forTooLong_isAnErrorAndNotAMiss() throws Exception {
    byte[][] keys = pair("long");
    beImpatient();
    assertThat(count(keys)).isEqualTo("1");
    SlotMigration migration = away(keys[0]);
    migration.begin();
    migration.move(keys[1]);

    assertThat(failure(transport.eval(COUNT, keys, NONE)))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("TRYAGAIN");
    assertThat(transport.pausing()).isZero();
    migration.moveAll();
    migration.finish();
    assertThat(count(keys)).isEqualTo("2");
  }

  @Test
  void scriptsFlushedEverywhere_noScript_isReportedByEachNode() throws Exception {
    cluster.console().command("SCRIPT", "FLUSH");
    assertThat(failure(transport.evalsha("0".repeat(40), pair("s"), NONE)))
        .isInstanceOf(RedisReplyException.class)
        .hasMessageStartingWith("NOSCRIPT");
  }

  @Test
  void deadMaster_commandsEndInTime_andGoOnAtItsReplica() throws Exception {
    byte[][] keys = pair("dead");
    beImpatient();
    assertThat(count(keys)).isEqualTo("1");
    RedisServerProcess killed = cluster.killMasterOf(keys[0]);
    String name = "127.0.0.1:" + killed.port();
    until(() -> !isUp(name));
    assertThat(failure(transport.get(keys[0])))
        .isInstanceOfSatisfying(
            StoreException.class, e -> assertThat(e.mayHaveHappened()).isFalse());
    cluster.awaitMaster(keys[0]);
    until(() -> succeeds(keys[0]));

    killed.restart();
    cluster.awaitStable();
    assertThat(Integer.parseInt(count(keys))).isGreaterThanOrEqualTo(1);
  }

  private boolean succeeds(byte[] key) throws Exception {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    transport.get(key).whenComplete((value, failed) -> done.complete(failed == null));
    return get(done);
  }

  @Test
  void deadMaster_patientCommand_isAnsweredByItsReplica() throws Exception {
    byte[][] keys = pair("patient");
    assertThat(count(keys)).isEqualTo("1");
    Object before = transport.nodeOf(keys[0]);
    RedisServerProcess killed = cluster.killMasterOf(keys[0]);
    String name = "127.0.0.1:" + killed.port();
    until(() -> !isUp(name));
    CompletableFuture<byte[]> held = transport.get(keys[0]).toCompletableFuture();

    assertThat(get(held)).isIn(null, bytes("1"));
    assertThat(transport.nodeOf(keys[0])).isNotEqualTo(before);
    killed.restart();
    cluster.awaitStable();
  }

  private boolean isUp(String name) {
    ClusterNode node = transport.node(name);
    return node != null && node.link().isUp();
  }

  private static long shardSubscribers(byte[] channel) {
    List<?> reply =
        (List<?>) cluster.masterOf(channel).console().command("PUBSUB", "SHARDNUMSUB", channel);
    return reply == null ? -1 : (Long) reply.get(1);
  }

  private static void publish(byte[] channel) {
    cluster.console().command("SPUBLISH", channel, "");
  }

  @Test
  void hints_comeThroughTheShard_whileSomebodyWaits() throws Exception {
    byte[] channel = bytes("c{hint}");
    byte[] other = bytes("d{hint}");
    assertThat(transport.shardedChannels()).isTrue();
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription =
        transport.subscribe(channel, message -> hints.incrementAndGet());
    HintSubscription second = transport.subscribe(other, message -> {});
    assertThat(get(subscription.ready())).isTrue();
    assertThat(get(second.ready())).isTrue();
    assertThat(shardSubscribers(channel)).isEqualTo(1);
    assertThat(transport.hints().shards()).isEqualTo(1);
    publish(channel);
    until(() -> hints.get() == 1);
    subscription.close();
    second.close();

    until(() -> shardSubscribers(channel) == 0);
    assertThat(transport.hints().size()).isZero();
  }

  @Test
  void hints_afterTheSlotHasMoved_comeFromItsNewMaster() throws Exception {
    byte[] channel = bytes("c{hint-moves}");
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription =
        transport.subscribe(channel, message -> hints.incrementAndGet());
    assertThat(get(subscription.ready())).isTrue();
    away(channel).run();
    until(() -> shardSubscribers(channel) == 1);
    // Messages may have been missed in between.
    until(() -> hints.get() == 1);
    publish(channel);
    until(() -> hints.get() == 2);
    subscription.close();
    until(() -> shardSubscribers(channel) == 0);
  }

  @Test
  void hints_ofSeveralSlots_areBackAfterALostConnection() throws Exception {
    byte[] one = bytes("c1");
    byte[] two = sameMaster(one);
    AtomicInteger hints = new AtomicInteger();
    assertThat(get(transport.subscribe(one, message -> hints.incrementAndGet()).ready())).isTrue();
    assertThat(get(transport.subscribe(two, message -> hints.incrementAndGet()).ready())).isTrue();
    cluster.masterOf(one).console().command("CLIENT", "KILL", "TYPE", "pubsub");

    until(() -> hints.get() >= 2);
    until(() -> shardSubscribers(one) == 1 && shardSubscribers(two) == 1);
    int before = hints.get();
    publish(two);
    until(() -> hints.get() > before);
  }

  /** Another slot of the same master. */
  private static byte[] sameMaster(byte[] key) {
    RedisServerProcess master = cluster.masterOf(key);
    for (int i = 0; ; i++) {
      byte[] candidate = bytes("other-" + i);
      if (RedisClusterProcess.slotOf(candidate) != RedisClusterProcess.slotOf(key)
          && cluster.masterOf(candidate).equals(master)) {
        return candidate;
      }
    }
  }

  @Test
  void hints_afterTheMasterHasDied_comeFromItsReplica() throws Exception {
    byte[] channel = bytes("c{hint-dies}");
    beImpatient();
    AtomicInteger hints = new AtomicInteger();
    HintSubscription subscription =
        transport.subscribe(channel, message -> hints.incrementAndGet());
    assertThat(get(subscription.ready())).isTrue();
    RedisServerProcess killed = cluster.killMasterOf(channel);
    cluster.awaitMaster(channel);
    // As a waiter's polls do: their failures show that the topology is out of date.
    until(() -> succeeds(channel) && shardSubscribers(channel) == 1);
    int before = hints.get();
    publish(channel);
    until(() -> hints.get() > before);
    subscription.close();
    killed.restart();
    cluster.awaitStable();
  }
}
