/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.Cache;
import dev.paddock.CacheEvent;
import dev.paddock.Codec;
import dev.paddock.engine.Fleet.Answer;
import dev.paddock.engine.Fleet.Node;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Processes of two versions at one Redis. */
final class RollingUpgradeTest {
  private final Fleet fleet = new Fleet();

  @AfterEach
  void restsAfterwards() {
    fleet.assertAtRest();
  }

  /** Text, as a later or earlier version of a type would write it. */
  private record Versioned(int schemaVersion) implements Codec<String> {
    @Override
    public byte[] encode(String value) {
      return (schemaVersion + "|" + value).getBytes(UTF_8);
    }

    @Override
    public String decode(byte[] payload) {
      String text = new String(payload, UTF_8);
      if (!text.startsWith(schemaVersion + "|")) {
        throw new IllegalStateException("misread: " + text);
      }
      return text.substring(2);
    }
  }

  private static Cache<String, String> cache(Node node, int version) {
    return node.paddock
        .cache("typed", new Versioned(version))
        .timeToLive(Duration.ofMinutes(1))
        .serveStaleFor(Duration.ofMinutes(1))
        .build();
  }

  private Answer get(Node node, Cache<String, String> cache) {
    Answer answer = node.watch("k", cache.getAsync("k", fleet.source.loader()));
    fleet.advance(Duration.ofMillis(300));
    return answer;
  }

  @Test
  void twoSchemaVersions_takeEachOthersValuesForMisses_andNeverMisreadThem() {
    Node older = fleet.node("a");
    Node newer = fleet.node("b");
    Cache<String, String> v1 = cache(older, 1);
    Cache<String, String> v2 = cache(newer, 2);
    for (int round = 0; round < 3; round++) {
      assertThat(get(older, v1).value()).isEqualTo("v1");
      assertThat(get(newer, v2).value()).isEqualTo("v1");
    }
    assertThat(older.events(CacheEvent.Unreadable.class)).hasSize(2);
    assertThat(newer.events(CacheEvent.Unreadable.class)).hasSize(3);
    assertThat(fleet.source.loads).isEqualTo(6);
    assertThat(fleet.source.mostAtOnce).isEqualTo(1);
  }

  @Test
  void twoSchemaVersions_inOneHerd_loadOnceEach_andAllGetTheirAnswer() {
    Node older = fleet.node("a");
    Node newer = fleet.node("b");
    Cache<String, String> v1 = cache(older, 1);
    Cache<String, String> v2 = cache(newer, 2);
    List<Answer> answers =
        IntStream.range(0, 20)
            .mapToObj(
                i ->
                    i % 2 == 0
                        ? older.watch("k", v1.getAsync("k", fleet.source.loader()))
                        : newer.watch("k", v2.getAsync("k", fleet.source.loader())))
            .toList();
    fleet.advance(Duration.ofSeconds(2));
    assertThat(answers).extracting(Answer::value).containsOnly("v1");
    assertThat(fleet.source.loads).isEqualTo(2);
  }

  @Test
  void valueOfALaterHeaderVersion_isAMissAndIsReplaced() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k", "x");
    byte[] stored = (byte[]) requireNonNull(fleet.redis.command("GET", "c:k"));
    byte[] later = stored.clone();
    later[3] = '2';
    fleet.redis.command("SET", "c:k", later, "PX", 60_000);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(answer.value()).isEqualTo("v1");
    assertThat(node.events(CacheEvent.Unreadable.class)).isNotEmpty();
    assertThat(new String((byte[]) requireNonNull(fleet.redis.command("GET", "c:k")), UTF_8))
        .startsWith("PDK1 ");
  }

  @Test
  void valueWithFieldsOfALaterVersion_isReadByThisOne() {
    Node node = fleet.node("a", Fleet::usual);
    node.put("k", "x");
    String stored = new String((byte[]) requireNonNull(fleet.redis.command("GET", "c:k")), UTF_8);
    assertThat(stored).startsWith("PDK1 0099 ");
    String extended =
        "PDK1 0110 " + stored.substring(10, 99) + "more words\n" + stored.substring(99);
    fleet.redis.command("SET", "c:k", extended, "PX", 60_000);
    Answer answer = node.get("k");
    fleet.advance(Duration.ofMillis(300));
    assertThat(answer.value()).isEqualTo("x");
    assertThat(fleet.source.loads).isZero();
  }
}
