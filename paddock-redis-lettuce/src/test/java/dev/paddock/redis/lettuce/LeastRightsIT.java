/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.redis.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.paddock.Cache;
import dev.paddock.Codecs;
import dev.paddock.Paddock;
import dev.paddock.StoreException;
import dev.paddock.testkit.RedisServerProcess;
import dev.paddock.testkit.ServerRelease;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The user of docs/deployments.md, with its patterns of keys and channels. */
final class LeastRightsIT {
  @Test
  void lines_areThoseOfTheDocs() throws Exception {
    assertThat(Files.readString(Path.of("..", "docs", "deployments.md")).lines())
        .contains(LeastRights.line("paddock"), LeastRights.lineWithoutChannels("paddock"));
  }

  @ParameterizedTest
  @EnumSource(ServerRelease.class)
  void allOperations_withTheRights_areAllowed(ServerRelease version) throws Exception {
    try (RedisServerProcess server = version.start()) {
      String uri = LeastRights.grant(server, "cache", LeastRights.line("cache"));
      operations(uri);
      assertThat(HerdIT.herd(uri, LeastRights.PREFIX)).isEqualTo(1);
      assertThat(LeastRights.refused(server)).noneMatch(entry -> !entry.contains("client"));
    }
  }

  private static void operations(String uri) {
    try (Paddock paddock = Paddock.connect(uri)) {
      Cache<String, String> cache =
          paddock
              .<String, String>cache("c", Codecs.string())
              .keyPrefix(LeastRights.PREFIX)
              .serveStaleFor(Duration.ofMinutes(5))
              .coolDown(Duration.ofMillis(1))
              .build();
      assertThat(cache.get("k", key -> "loaded")).isEqualTo("loaded");
      assertThat(cache.getIfPresent("k")).isEqualTo("loaded");
      cache.put("k", "put");
      cache.expire("k");
      assertThat(cache.refresh("k", (key, context) -> "refreshed").join()).isEqualTo("refreshed");
      cache.invalidate("k");
      assertThat(cache.getIfPresent("k")).isNull();
      List<String> several = List.of("a", "b", "c");
      assertThat(cache.getAll(several, (keys, context) -> Map.of("a", "1", "b", "2"))).hasSize(2);
      // By MGET, or without the right to it by GET: not from the source in any case.
      assertThat(
              cache.getAll(
                  several,
                  (keys, context) -> {
                    throw new AssertionError("loaded again");
                  }))
          .isEqualTo(Map.of("a", "1", "b", "2"));
      cache.invalidateAll(several);
      assertThat(cache.getIfPresent("a")).isNull();
      assertThatThrownBy(
              () ->
                  cache.get(
                      "failing",
                      key -> {
                        throw new IllegalStateException("no luck");
                      }))
          .hasRootCauseMessage("no luck");
    }
  }

  @ParameterizedTest
  @EnumSource(ServerRelease.class)
  void waiters_withoutChannels_areAnsweredByPolls(ServerRelease version) throws Exception {
    try (RedisServerProcess server = version.start()) {
      String uri = LeastRights.grant(server, "deaf", LeastRights.lineWithoutChannels("deaf"));
      operations(uri);
      server.console().command("ACL", "LOG", "RESET");

      assertThat(HerdIT.herd(uri, LeastRights.PREFIX)).isEqualTo(1);

      // They did ask for hints, and were refused.
      assertThat(LeastRights.refused(server)).anyMatch(entry -> entry.contains("subscribe"));
    }
  }

  @Test
  void keysOutsideThePatterns_areRefused() {
    try (RedisServerProcess server = RedisServerProcess.start()) {
      String uri = LeastRights.grant(server, "cache", LeastRights.line("cache"));
      try (Paddock paddock = Paddock.connect(uri)) {
        Cache<String, String> other =
            paddock.<String, String>cache("c", Codecs.string()).keyPrefix("other:").build();
        assertThatThrownBy(() -> other.invalidate("k"))
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("NOPERM");
        assertThat(other.get("k", key -> "loaded here")).isEqualTo("loaded here");
      }
    }
  }
}
