/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static dev.paddock.redis.lettuce.Transports.LIMIT;
import static dev.paddock.redis.lettuce.Transports.bytes;
import static dev.paddock.redis.lettuce.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.spi.Environment;
import dev.paddock.testkit.RealTimeEnvironment;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisClusterProcess.SlotMigration;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Several Paddocks, as several processes would, on a real cluster. */
final class ClusterPaddockIT {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final long LIMIT_SECONDS = 120;

  private static RedisClusterProcess cluster;

  private final List<Paddock> paddocks = new ArrayList<>();
  private final Queue<CacheEvent> events = new ConcurrentLinkedQueue<>();
  private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
  private final ExecutorService callers = Executors.newCachedThreadPool();

  @BeforeAll
  static void start() {
    cluster = RedisClusterProcess.start();
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @AfterEach
  void close() {
    paddocks.forEach(Paddock::close);
    callers.shutdownNow();
  }

  private Cache<String, String> cache(Paddock paddock) {
    return cache(paddock, LONG);
  }

  private Cache<String, String> cache(Paddock paddock, Duration lease) {
    paddocks.add(paddock);
    return paddock
        .cache("c", Codecs.string())
        .maxWait(Duration.ofMinutes(1))
        .leaseTime(lease)
        .maxLoadTime(LONG)
        .timeToLive(LONG)
        .build();
  }

  private Paddock paddock(Duration commandTimeout) {
    return Paddock.newBuilder()
        .store(cluster.uri())
        .connectTimeout(LIMIT)
        .commandTimeout(commandTimeout)
        .listener(events::add)
        .build();
  }

  private Cache<String, String> cache() {
    return cache(paddock(LIMIT));
  }

  private static byte[] valueKey(String key) {
    return bytes("c:" + key);
  }

  private String load(String key) {
    loads.computeIfAbsent(key, absent -> new AtomicInteger()).incrementAndGet();
    return "value of " + key;
  }

  private int loads(String key) {
    AtomicInteger count = loads.get(key);
    return count == null ? 0 : count.get();
  }

  private Future<String> call(Cache<String, String> cache, String key, CountDownLatch gate) {
    return callers.submit(
        () ->
            cache.get(
                key,
                k -> {
                  String value = load(k);
                  gate.await();
                  return value;
                }));
  }

  private static String get(Future<String> future) throws Exception {
    return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }

  private List<CacheEvent> failures() {
    return events.stream().filter(CacheEvent.StoreFailed.class::isInstance).toList();
  }

  @Test
  void connect_withTheUriOfACluster_works() {
    Cache<String, String> cache = cache(Paddock.connect(cluster.uri()));
    assertThat(cache.get("connect", this::load)).isEqualTo("value of connect");
    assertThat(cache.get("connect", this::load)).isEqualTo("value of connect");
    assertThat(loads("connect")).isEqualTo(1);
    assertThat(cluster.console().command("GET", valueKey("connect"))).isNotNull();
  }

  @Test
  void herd_overManySlots_loadsEachKeyOnce() throws Exception {
    List<Cache<String, String>> caches = List.of(cache(), cache(), cache());
    int keys = 24;
    CountDownLatch open = new CountDownLatch(0);
    List<Future<String>> answers = new ArrayList<>();
    for (int caller = 0; caller < 4; caller++) {
      for (int key = 0; key < keys; key++) {
        for (Cache<String, String> cache : caches) {
          answers.add(call(cache, "herd-" + key, open));
        }
      }
    }
    for (Future<String> answer : answers) {
      assertThat(get(answer)).startsWith("value of herd-");
    }
    for (int key = 0; key < keys; key++) {
      assertThat(loads("herd-" + key)).as("loads of key %s", key).isEqualTo(1);
    }
    assertThat(failures()).isEmpty();
  }

  @Test
  void slotMoves_inMidLoad_valueIsStoredAtItsNewMaster() throws Exception {
    String key = "mid-load";
    Cache<String, String> loading = cache();
    Cache<String, String> other = cache();
    CountDownLatch gate = new CountDownLatch(1);
    Future<String> answer = call(loading, key, gate);
    until(() -> loads(key) == 1);
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    RedisServerProcess target = cluster.otherMaster(slot);
    cluster.migrate(slot, target).run();
    gate.countDown();

    assertThat(get(answer)).isEqualTo("value of " + key);
    assertThat(other.get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(1);
    assertThat(target.console().command("GET", valueKey(key))).isNotNull();
    assertThat(failures()).isEmpty();
  }

  @Test
  void slotMoves_stageByStageUnderAHerd_stillOneLoad() throws Exception {
    String key = "mid-herd";
    List<Cache<String, String>> caches = List.of(cache(), cache(), cache());
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    answers.add(call(caches.get(0), key, gate));
    until(() -> loads(key) == 1);
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    SlotMigration migration = cluster.migrate(slot, cluster.otherMaster(slot));
    join(answers, caches, key, gate);
    migration.begin();
    // The lease is there and no value: who asks now is told to try again.
    join(answers, caches, key, gate);
    migration.moveAll();
    join(answers, caches, key, gate);
    gate.countDown();
    join(answers, caches, key, gate);
    migration.finish();
    join(answers, caches, key, gate);

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    assertThat(loads(key)).isEqualTo(1);
    assertThat(failures()).isEmpty();
    assertThat(cluster.masterOf(valueKey(key)).console().command("GET", valueKey(key))).isNotNull();
  }

  private void join(
      List<Future<String>> answers,
      List<Cache<String, String>> caches,
      String key,
      CountDownLatch gate) {
    for (Cache<String, String> cache : caches) {
      answers.add(call(cache, key, gate));
      answers.add(call(cache, key, gate));
    }
  }

  @Test
  void slotOnItsWay_withoutEnd_coldKeyIsStillLoadedOnceAndStored() throws Exception {
    String key = "cold-on-its-way";
    Duration second = Duration.ofSeconds(1);
    List<Cache<String, String>> caches =
        List.of(cache(paddock(second)), cache(paddock(second)), cache(paddock(second)));
    int slot = RedisClusterProcess.slotOf(valueKey(key));
    RedisServerProcess target = cluster.otherMaster(slot);
    SlotMigration migration = cluster.migrate(slot, target);
    migration.begin();
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    join(answers, caches, key, gate);
    until(() -> events.stream().anyMatch(CacheEvent.LeaseContended.class::isInstance));
    gate.countDown();

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    assertThat(loads(key)).isEqualTo(1);
    assertThat(failures()).isEmpty();
    caches.get(1).invalidate(key);
    assertThat(caches.get(2).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(2);
    migration.moveAll();
    migration.finish();
    assertThat(target.console().command("GET", valueKey(key))).isNotNull();
    assertThat(caches.get(0).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(2);
  }

  @Test
  void masterDies_inMidLoad_allAreAnswered() throws Exception {
    String key = "dies";
    // The lease may outlive the master on its replica, and nobody can free it in the outage.
    Duration second = Duration.ofSeconds(1);
    List<Cache<String, String>> caches =
        List.of(cache(paddock(second), second), cache(paddock(second), second));
    CountDownLatch gate = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    answers.add(call(caches.get(0), key, gate));
    until(() -> loads(key) == 1);
    join(answers, caches, key, gate);
    until(() -> events.stream().anyMatch(CacheEvent.LeaseContended.class::isInstance));
    RedisServerProcess killed = cluster.killMasterOf(valueKey(key));
    gate.countDown();

    for (Future<String> answer : answers) {
      assertThat(get(answer)).isEqualTo("value of " + key);
    }
    // Without its store each process loads for itself: those that waited, and those that came.
    int inTheOutage = loads(key);
    assertThat(inTheOutage).isBetween(1, 1 + 2 * caches.size());
    cluster.awaitMaster(valueKey(key));
    until(
        () -> {
          caches.get(1).get(key, this::load);
          return cluster.console().command("GET", valueKey(key)) != null;
        });
    int healed = loads(key);
    until(() -> caches.get(0).getIfPresent(key) != null);
    assertThat(caches.get(0).get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(healed);
    killed.restart();
    cluster.awaitStable();
  }

  private static int shardChannels(RedisServerProcess node) {
    Object channels = node.console().command("PUBSUB", "SHARDCHANNELS");
    return channels instanceof List<?> list ? list.size() : -1;
  }

  /** Timers that never fire once they are held: nothing happens by the passing of time. */
  private static final class HeldTimers implements Environment {
    private final RealTimeEnvironment real = RealTimeEnvironment.create();
    volatile boolean held;

    @Override
    public long nanoTime() {
      return real.nanoTime();
    }

    @Override
    public long wallMillis() {
      return real.wallMillis();
    }

    @Override
    public Timer schedule(Runnable task, long delayNanos) {
      return held ? () -> {} : real.schedule(task, delayNanos);
    }

    @Override
    public Executor executor() {
      return real.executor();
    }

    @Override
    public long randomLong() {
      return real.randomLong();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  @Test
  void waiter_withoutAnyTimer_isWokenByTheHint() throws Exception {
    String key = "hint";
    Cache<String, String> loading = cache();
    HeldTimers timers = new HeldTimers();
    Cache<String, String> waiting =
        cache(Paddock.newBuilder().environment(timers).store(cluster.uri()).build());
    assertThat(waiting.getIfPresent(key)).isNull();
    CountDownLatch gate = new CountDownLatch(1);
    Future<String> loader = call(loading, key, gate);
    until(() -> loads(key) == 1);
    timers.held = true;
    Future<String> waiter = call(waiting, key, gate);
    RedisServerProcess master = cluster.masterOf(valueKey(key));
    until(() -> shardChannels(master) > 0);
    assertThat(waiter).isNotDone();
    gate.countDown();

    assertThat(get(waiter)).isEqualTo("value of " + key);
    assertThat(get(loader)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(1);
    until(() -> shardChannels(master) == 0);
  }

  /** The rights that docs/deployments.md names. */
  private static final String RIGHTS =
      "reset on >password -@all ~shop:* ~pdk:{*}:shop:* &pdk:{*}:shop:*"
          + " +hello +info +time +get +mget +evalsha +eval +asking +cluster|nodes +cluster|myid"
          + " +ssubscribe +sunsubscribe +getrange +strlen +set +setrange +del +pttl"
          + " +pexpire +spublish";

  @Test
  void user_withTheLeastRights_getsValuesHintsAndRedirections() throws Exception {
    List<Object> words = new ArrayList<>(List.of("ACL", "SETUSER", "shop"));
    words.addAll(List.of(RIGHTS.split(" ", -1)));
    cluster.console().command(words.toArray());
    String uri = cluster.uri().replace("redis://", "redis://shop:password@");
    String key = "rights";
    byte[] valueKey = bytes("shop:c:" + key);
    Cache<String, String> loading = shop(Paddock.newBuilder().store(uri).listener(events::add));
    HeldTimers timers = new HeldTimers();
    Cache<String, String> waiting =
        shop(Paddock.newBuilder().store(uri).listener(events::add).environment(timers));
    assertThat(waiting.getIfPresent(key)).isNull();
    CountDownLatch gate = new CountDownLatch(1);
    Future<String> loader = call(loading, key, gate);
    until(() -> loads(key) == 1);
    timers.held = true;
    Future<String> waiter = call(waiting, key, gate);
    RedisServerProcess master = cluster.masterOf(valueKey);
    until(() -> shardChannels(master) > 0);
    gate.countDown();
    assertThat(get(waiter)).isEqualTo("value of " + key);
    assertThat(get(loader)).isEqualTo("value of " + key);

    int slot = RedisClusterProcess.slotOf(valueKey);
    SlotMigration migration = cluster.migrate(slot, cluster.otherMaster(slot));
    migration.begin();
    migration.moveAll();
    assertThat(loading.get(key, this::load)).isEqualTo("value of " + key);
    migration.finish();
    assertThat(loading.get(key, this::load)).isEqualTo("value of " + key);
    assertThat(loads(key)).isEqualTo(1);
    loading.invalidate(key);
    assertThat(failures()).isEmpty();
  }

  private Cache<String, String> shop(Paddock.Builder builder) {
    Paddock paddock = builder.build();
    paddocks.add(paddock);
    return paddock
        .cache("c", Codecs.string())
        .keyPrefix("shop:")
        .maxWait(Duration.ofMinutes(1))
        .leaseTime(LONG)
        .maxLoadTime(LONG)
        .build();
  }
}
