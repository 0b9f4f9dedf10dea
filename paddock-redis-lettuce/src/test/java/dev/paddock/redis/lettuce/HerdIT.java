/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerRelease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A herd of callers in several members of a fleet, on each version of the server. */
final class HerdIT {
  private static final int MEMBERS = 3;
  private static final int CALLERS = 10;

  @ParameterizedTest
  @EnumSource(ServerRelease.class)
  void herd_onAColdKey_isOneLoad(ServerRelease version) throws Exception {
    try (RedisServerProcess server = version.start()) {
      assertThat(herd(server.uri(), "")).isEqualTo(1);
    }
  }

  /**
   * Lets a herd loose on a key whose load ends only when each member but the loader's waits for it.
   *
   * @return how many loads there were
   */
  static int herd(String uri, String prefix) throws Exception {
    AtomicInteger loads = new AtomicInteger();
    CountDownLatch contended = new CountDownLatch(MEMBERS - 1);
    ConcurrentLinkedQueue<CacheEvent> failures = new ConcurrentLinkedQueue<>();
    ExecutorService threads = Executors.newFixedThreadPool(MEMBERS * CALLERS);
    List<Paddock> members = new ArrayList<>();
    try {
      List<Future<String>> answers = new ArrayList<>();
      for (int member = 0; member < MEMBERS; member++) {
        Paddock paddock =
            Paddock.newBuilder()
                .store(uri)
                .commandTimeout(Duration.ofSeconds(30))
                .listener(
                    event -> {
                      if (event instanceof CacheEvent.LeaseContended) {
                        contended.countDown();
                      } else if (event instanceof CacheEvent.StoreFailed) {
                        failures.add(event);
                      }
                    })
                .build();
        members.add(paddock);
        Cache<String, String> cache =
            paddock
                .<String, String>cache("posts", Codecs.string())
                .keyPrefix(prefix)
                .maxWait(Duration.ofMinutes(2))
                .maxLoadTime(Duration.ofMinutes(2))
                .build();
        for (int caller = 0; caller < CALLERS; caller++) {
          answers.add(
              threads.submit(
                  () ->
                      cache.get(
                          "top",
                          key -> {
                            loads.incrementAndGet();
                            assertThat(contended.await(60, TimeUnit.SECONDS)).isTrue();
                            return "loaded";
                          })));
        }
      }
      for (Future<String> answer : answers) {
        assertThat(answer.get(120, TimeUnit.SECONDS)).isEqualTo("loaded");
      }
    } finally {
      threads.shutdownNow();
      members.forEach(Paddock::close);
    }
    assertThat(failures).isEmpty();
    return loads.get();
  }
}
