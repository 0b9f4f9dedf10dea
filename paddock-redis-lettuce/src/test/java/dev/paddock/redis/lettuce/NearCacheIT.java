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
import dev.paddock.testkit.RedisClusterProcess;
import dev.paddock.testkit.RedisServerProcess;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Values kept in one process, changed by another, through real servers. */
@Timeout(180)
final class NearCacheIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final AtomicInteger nearHits = new AtomicInteger();

  private static Paddock connect(String uri, AtomicInteger hits) {
    return Paddock.newBuilder()
        .store(uri)
        .closeOnShutdown(false)
        .listener(
            event -> {
              if (event instanceof CacheEvent.NearHit) {
                hits.incrementAndGet();
              }
            })
        .build();
  }

  private static Cache<String, String> cache(Paddock paddock) {
    return paddock
        .cache("near", Codecs.string())
        .timeToLive(Duration.ofHours(1))
        .nearMaxEntries(100)
        .nearTimeToLive(Duration.ofHours(1))
        .tagLag(Duration.ofMinutes(30))
        .build();
  }

  /** Reads until the value is kept near, which it is not before messages are sure to come. */
  private void awaitNear(Cache<String, String> cache, String key, String value) {
    Awaitility.await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              int before = nearHits.get();
              assertThat(cache.getIfPresent(key)).isEqualTo(value);
              assertThat(nearHits).hasValueGreaterThan(before);
            });
  }

  private static void awaitValue(Cache<String, String> cache, String key, @Nullable String value) {
    Awaitility.await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(cache.getIfPresent(key)).isEqualTo(value));
  }

  private void changesByOthersAreSeenHere(String uri) {
    try (Paddock here = connect(uri, nearHits);
        Paddock elsewhere = connect(uri, new AtomicInteger())) {
      Cache<String, String> near = cache(here);
      Cache<String, String> other = cache(elsewhere);
      other.put("k", "v1");
      awaitNear(near, "k", "v1");

      other.put("k", "v2");
      awaitValue(near, "k", "v2");
      awaitNear(near, "k", "v2");

      other.invalidate("k");
      awaitValue(near, "k", null);

      other.put("k", "v3", other.options().tags("red"));
      awaitNear(near, "k", "v3");
      other.invalidateTag("red");
      awaitValue(near, "k", null);

      other.put("k", "v4");
      awaitNear(near, "k", "v4");
      other.clear();
      awaitValue(near, "k", null);
    }
  }

  @Test
  void change_byAnotherProcess_endsWhatIsKept() {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      changesByOthersAreSeenHere(server.uri());
    }
  }

  @Test
  void change_onACluster_endsWhatIsKeptThoughItsChannelIsElsewhere() {
    try (RedisClusterProcess cluster = RedisClusterProcess.start()) {
      changesByOthersAreSeenHere(cluster.uri());
    }
  }

  @Test
  void change_whileMessagesAreCut_isSeenOnceTheyAreBack() {
    try (RedisServerProcess server = RedisServerProcess.start();
        RedisClient client = RedisClient.create(server.uri());
        StatefulRedisConnection<String, String> connection = client.connect();
        Paddock here = connect(server.uri(), nearHits)) {
      Cache<String, String> near = cache(here);
      near.put("k", "v1");
      awaitNear(near, "k", "v1");

      // Not by Paddock, so nobody is told.
      connection.sync().del("near:k");
      assertThat(near.getIfPresent("k")).isEqualTo("v1");
      connection.sync().clientKill(KillArgs.Builder.typePubsub());

      awaitValue(near, "k", null);
    }
  }
}
