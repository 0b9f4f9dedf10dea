/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.jedis;

import static dev.paddock.redis.jedis.Transports.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisCommands;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.SentinelGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What callers see of a failover, through the URI that a user would write. */
final class JedisSentinelFailoverIT {
  private static final int MEMBERS = 2;
  private static final int CALLERS = 10;

  /** Longer than a failover on a slow machine takes. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final List<Member> members = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private SentinelGroup group;

  /** As far as Redis can tell, a process of the fleet: connections and leases of its own. */
  private static final class Member {
    final ConcurrentLinkedQueue<CacheEvent> events = new ConcurrentLinkedQueue<>();
    final AtomicInteger running = new AtomicInteger();
    final AtomicInteger mostAtOnce = new AtomicInteger();
    final Paddock paddock;
    final Cache<String, String> cache;

    Member(String uri) {
      paddock = Paddock.newBuilder().store(uri).listener(events::add).build();
      cache =
          paddock
              .<String, String>cache("posts", Codecs.string())
              .timeToLive(Duration.ofHours(1))
              .maxWait(PATIENCE)
              .maxLoadTime(PATIENCE)
              .build();
    }

    void enter() {
      mostAtOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
    }

    void exit() {
      running.decrementAndGet();
    }

    long failures() {
      return events.stream().filter(CacheEvent.StoreFailed.class::isInstance).count();
    }
  }

  @BeforeEach
  void start() {
    group = SentinelGroup.start(Duration.ofSeconds(2));
    for (int i = 0; i < MEMBERS; i++) {
      members.add(new Member(group.uri()));
    }
  }

  @AfterEach
  void stop() {
    threads.shutdownNow();
    members.forEach(each -> each.paddock.close());
    group.close();
  }

  @Test
  void primaryKilled_inMidLoad_answersAllCallers_andHeals() throws Exception {
    failover_inMidLoad(group::killPrimary);
  }

  @Test
  void failoverByCommand_inMidLoad_answersAllCallers_andHeals() throws Exception {
    failover_inMidLoad(group::failover);
  }

  private void failover_inMidLoad(Supplier<RedisServerProcess> fault) throws Exception {
    AtomicInteger loads = new AtomicInteger();
    CountDownLatch loading = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    for (int caller = 0; caller < CALLERS; caller++) {
      for (Member member : members) {
        answers.add(
            threads.submit(
                () ->
                    member.cache.get(
                        "k",
                        key -> {
                          loads.incrementAndGet();
                          member.enter();
                          loading.countDown();
                          release.await();
                          member.exit();
                          return "loaded";
                        })));
      }
    }
    assertThat(loading.await(30, TimeUnit.SECONDS)).isTrue();

    RedisServerProcess old = fault.get();
    group.awaitNewPrimary(old);
    release.countDown();

    for (Future<String> answer : answers) {
      assertThat(answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("loaded");
    }
    // One load at a time in each process. Who came after a load had begun that could not be stored
    // can't be sure that nothing was invalidated since, and loads: each caller once at most.
    assertThat(members).allMatch(each -> each.mostAtOnce.get() <= 1);
    assertThat(loads).hasValueBetween(1, MEMBERS * CALLERS);
    int loaded = loads.get();

    healed();
    // The fill may have been lost: then one more.
    for (Member member : members) {
      assertThat(member.cache.get("k", key -> "load " + loads.incrementAndGet())).isNotNull();
    }
    assertThat(loads).hasValueBetween(loaded, loaded + 1);
    int before = loads.get();
    for (int i = 0; i < 20; i++) {
      for (Member member : members) {
        member.cache.get("k", key -> "load " + loads.incrementAndGet());
      }
    }
    assertThat(loads).hasValue(before);
  }

  /** Waits until a value that one process loads is a hit in the others, by themselves. */
  private void healed() {
    AtomicInteger round = new AtomicInteger();
    until(
        () -> {
          String key = "healed-" + round.incrementAndGet();
          String value = members.get(0).cache.get(key, k -> "new");
          return "new".equals(value)
              && members.stream().allMatch(each -> "new".equals(each.cache.getIfPresent(key)));
        });
  }

  @Test
  void primaryKilled_underLoad_failsNoRead_andLoadsAreBounded() throws Exception {
    int keys = 20;
    AtomicInteger loads = new AtomicInteger();
    AtomicBoolean stop = new AtomicBoolean();
    Function<String, String> source =
        key -> {
          loads.incrementAndGet();
          return "of " + key;
        };
    for (int i = 0; i < keys; i++) {
      members.get(0).cache.get("k" + i, source::apply);
    }
    assertThat(loads).hasValue(keys);
    group.awaitSync();
    List<CompletableFuture<Integer>> readers = new ArrayList<>();
    for (int reader = 0; reader < 4; reader++) {
      Member member = members.get(reader % MEMBERS);
      readers.add(
          CompletableFuture.supplyAsync(
              () -> {
                int reads = 0;
                while (!stop.get()) {
                  String key = "k" + reads++ % keys;
                  assertThat(member.cache.get(key, source::apply)).isEqualTo("of " + key);
                }
                return reads;
              },
              threads));
    }
    RedisServerProcess old = group.killPrimary();
    until(() -> members.stream().allMatch(each -> each.failures() > 0));
    group.awaitNewPrimary(old);
    healed();
    // All values had been replicated: from here on each read is a hit.
    int loaded = loads.get();
    for (Member member : members) {
      for (int i = 0; i < keys; i++) {
        assertThat(member.cache.getIfPresent("k" + i)).isEqualTo("of k" + i);
      }
    }
    stop.set(true);
    for (CompletableFuture<Integer> reader : readers) {
      // Each read is checked in the thread that reads.
      assertThat(reader.get(60, TimeUnit.SECONDS)).isPositive();
    }
    assertThat(loads).hasValue(loaded);
    // During the outage a read that can't reach Redis loads, one at a time for each key and
    // process.
    assertThat(loads.get()).isGreaterThan(keys);
  }

  @Test
  void primaryThatHangs_isLeft_andWhenItGoesOnItsWritesReachNobody() throws Exception {
    Member member = members.get(0);
    member.cache.put("k", "before");
    group.awaitSync();
    RedisServerProcess old = group.primary();
    old.pause();
    try {
      RedisServerProcess next = group.awaitNewPrimary(old);
      assertThat(next).isNotSameAs(old);
      // Nothing but silence tells that the server is gone: a connection is given up after seconds.
      healed();
      member.cache.put("k", "after");
    } finally {
      old.resume();
    }
    // It goes on as a primary until the Sentinels tell it otherwise, and nobody reads there.
    for (Member each : members) {
      assertThat(each.cache.getIfPresent("k")).isEqualTo("after");
    }
    group.awaitSync();
    try (RedisCommands former = old.connect()) {
      assertThat(former.text("GET", "posts:k")).endsWith("after");
    }
  }

  @Test
  void oldPrimary_thatComesBackAndTakesWrites_misleadsNobody() throws Exception {
    Member member = members.get(0);
    member.cache.put("k", "before");
    group.awaitSync();
    RedisServerProcess old = group.killPrimary();
    assertThat(group.awaitNewPrimary(old)).isNotSameAs(old);
    healed();
    old.restart();
    try (RedisCommands former = old.connect()) {
      // It begins as a primary: what is written now is lost when it is made a replica.
      assertThat(former.text("SET", "posts:k", "a write that will be lost")).isEqualTo("OK");
    }
    member.cache.invalidate("k");
    member.cache.put("k", "after");
    for (Member each : members) {
      assertThat(each.cache.getIfPresent("k")).isEqualTo("after");
    }
    group.awaitSync();

    try (RedisCommands former = old.connect()) {
      assertThat(former.text("GET", "posts:k")).endsWith("after");
    }
    for (Member each : members) {
      assertThat(each.cache.getIfPresent("k")).isEqualTo("after");
    }
  }
}
