/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server that is stopped, killed, frozen, made a replica or filled up under 200 callers: none
 * gets an error, each key is loaded about once in the outage TTL, and the server is used again when
 * it is back.
 */
@Timeout(180)
final class OutageIT {
  private static final int CALLERS = 200;
  private static final int KEYS = 10;
  private static final Duration OUTAGE = Duration.ofSeconds(3);
  private static final Duration OUTAGE_TTL = Duration.ofSeconds(1);

  private final RedisServerProcess server = RedisServerProcess.start();
  private final Map<String, AtomicInteger> loads = new ConcurrentHashMap<>();
  private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicInteger answers = new AtomicInteger();
  private final CountDownLatch done = new CountDownLatch(CALLERS);
  private Paddock paddock;
  private Cache<String, String> cache;
  private volatile String phase = "before";

  @BeforeEach
  void connect() {
    paddock =
        Paddock.newBuilder()
            .store(server.uri())
            .commandTimeout(Duration.ofMillis(500))
            .closeOnShutdown(false)
            .build();
    cache =
        paddock
            .cache("c", Codecs.string())
            .timeToLive(Duration.ofMinutes(1))
            .outageTimeToLive(OUTAGE_TTL)
            .maxWait(Duration.ofSeconds(60))
            .build();
  }

  @AfterEach
  void close() {
    stop.set(true);
    server.resume();
    paddock.close();
    server.close();
  }

  private String load(String key) throws InterruptedException {
    loads.computeIfAbsent(key, k -> new AtomicInteger()).incrementAndGet();
    // The slow query itself.
    TimeUnit.MILLISECONDS.sleep(20);
    return "value of " + key;
  }

  private void startCallers() {
    for (int i = 0; i < CALLERS; i++) {
      int caller = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int n = caller; !stop.get(); n++) {
                    String key = phase + n % KEYS;
                    String value = cache.get(key, this::load);
                    if (!("value of " + key).equals(value)) {
                      errors.add(new AssertionError("got " + value));
                    }
                    answers.incrementAndGet();
                    // Callers who have nothing else to do than to ask again measure only
                    // themselves.
                    TimeUnit.MILLISECONDS.sleep(10);
                  }
                } catch (Throwable e) {
                  errors.add(e);
                } finally {
                  done.countDown();
                }
              });
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void outage(Runnable begin, Runnable end) throws InterruptedException {
    startCallers();
    awaitAnswers(2 * CALLERS);
    for (int i = 0; i < KEYS; i++) {
      assertThat(loads.get("before" + i)).as("before%s", i).hasValue(1);
    }
    begin.run();
    long begunNanos = System.nanoTime();
    // Keys that nobody has asked for before, so that all of them are misses.
    phase = "during";
    TimeUnit.NANOSECONDS.sleep(OUTAGE.toNanos());
    int during = answers.get();
    awaitAnswers(CALLERS);
    end.run();
    phase = "after";
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .untilAsserted(
            () -> assertThat(server.console().text("EXISTS", "c:after0")).isEqualTo("1"));
    long outageNanos = System.nanoTime() - begunNanos;
    awaitAnswers(CALLERS);
    stop.set(true);
    assertThat(done.await(100, TimeUnit.SECONDS)).isTrue();
    assertThat(errors).isEmpty();
    assertThat(during).isPositive();
    long most = 2 + outageNanos / OUTAGE_TTL.toNanos();
    for (int i = 0; i < KEYS; i++) {
      assertThat(requireNonNull(loads.get("during" + i)).get())
          .as("during%s", i)
          .isBetween(1, (int) most);
    }
  }

  private void awaitAnswers(int more) {
    int goal = answers.get() + more;
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> answers.get() >= goal || !errors.isEmpty());
  }

  @Test
  void serverThatIsFrozen() throws InterruptedException {
    outage(server::pause, server::resume);
  }

  @Test
  void serverThatIsKilled() throws InterruptedException {
    outage(server::kill, server::restart);
  }

  @Test
  void serverThatIsMadeAReplica() throws InterruptedException {
    outage(
        () -> server.console().command("REPLICAOF", "127.0.0.1", "1"),
        () -> server.console().command("REPLICAOF", "NO", "ONE"));
  }

  @Test
  void serverThatIsFull() throws InterruptedException {
    outage(
        () -> server.console().command("CONFIG", "SET", "maxmemory", "1"),
        () -> server.console().command("CONFIG", "SET", "maxmemory", "0"));
  }
}
