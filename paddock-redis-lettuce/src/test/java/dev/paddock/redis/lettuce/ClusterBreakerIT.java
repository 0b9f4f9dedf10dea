/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One master of a cluster that hangs. */
@Timeout(180)
final class ClusterBreakerIT {
  private final Queue<CacheEvent> told = new ConcurrentLinkedQueue<>();
  private final AtomicInteger loads = new AtomicInteger();

  @Test
  void shardThatHangs_isLeftOut_andTheOthersAreStillAsked() {
    // Nobody takes over meanwhile, and the others answer although slots are missing.
    try (RedisClusterProcess cluster =
            RedisClusterProcess.start(
                "--cluster-node-timeout", "60000", "--cluster-require-full-coverage", "no");
        Paddock paddock =
            Paddock.newBuilder()
                .store(cluster.uri())
                .commandTimeout(Duration.ofSeconds(1))
                .closeOnShutdown(false)
                .listener(
                    event -> {
                      if (event instanceof CacheEvent.BreakerChanged) {
                        told.add(event);
                      }
                    })
                .build()) {
      Cache<String, String> cache =
          paddock
              .cache("c", Codecs.string())
              .timeToLive(Duration.ofMinutes(10))
              .outageTimeToLive(Duration.ZERO)
              .build();
      RedisServerProcess hanging = cluster.masterOf("c:k0".getBytes(UTF_8));
      List<String> here = new ArrayList<>();
      List<String> elsewhere = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        String key = "k" + i;
        assertThat(get(cache, key)).isEqualTo("value of " + key);
        RedisServerProcess master = cluster.masterOf(("c:" + key).getBytes(UTF_8));
        (master.port() == hanging.port() ? here : elsewhere).add(key);
      }
      assertThat(here).hasSizeGreaterThan(3);
      assertThat(elsewhere).hasSizeGreaterThan(3);
      int before = loads.get();
      hanging.pause();
      try {
        // Three time-outs in a row, with no answer of another master between.
        for (String key : here.subList(0, 3)) {
          get(cache, key);
        }
        assertThat(told).hasSize(1);
        int own = loads.get();
        assertThat(own).isEqualTo(before + 3);
        for (String key : elsewhere) {
          assertThat(get(cache, key)).isEqualTo("value of " + key);
        }
        assertThat(loads).as("loads of keys whose master is well").hasValue(own);
      } finally {
        hanging.resume();
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(told).hasSize(2));
    }
  }

  private String get(Cache<String, String> cache, String key) {
    return String.valueOf(
        cache.get(
            key,
            k -> {
              loads.incrementAndGet();
              return "value of " + k;
            }));
  }
}
