/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;

/** A thousand random values, each from its own seed, which the message names on failure. */
final class JacksonCodecRandomTest {

  enum Kind {
    A,
    B,
    C
  }

  record Leaf(
      boolean flag,
      byte small,
      short medium,
      int number,
      long large,
      float single,
      double real,
      char letter,
      @Nullable String text,
      BigInteger big,
      BigDecimal decimal) {}

  record Node(
      UUID id,
      Kind kind,
      Set<Kind> kinds,
      Optional<String> maybe,
      OptionalLong maybeLong,
      Instant instant,
      LocalDate date,
      OffsetDateTime offset,
      ZonedDateTime zoned,
      Duration duration,
      List<Leaf> leaves,
      Map<String, Node> children,
      Map<Kind, Integer> counts,
      List<List<Integer>> matrix) {}

  private static final String[] ZONES = {"UTC", "Europe/Paris", "America/St_Johns", "Asia/Kolkata"};

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(12);
    while (text.length() < length) {
      int codePoint =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(128);
            case 1 -> random.nextInt(0x800);
            case 2 -> random.nextInt(0x10000);
            default -> random.nextInt(0x110000);
          };
      if (codePoint < 0xD800 || codePoint > 0xDFFF) {
        text.appendCodePoint(codePoint);
      }
    }
    return text.toString();
  }

  private static Leaf leaf(Random random) {
    return new Leaf(
        random.nextBoolean(),
        (byte) random.nextInt(),
        (short) random.nextInt(),
        random.nextInt(),
        random.nextLong(),
        Float.intBitsToFloat(random.nextInt()),
        Double.longBitsToDouble(random.nextLong()),
        (char) random.nextInt(0xD800),
        random.nextInt(5) == 0 ? null : text(random),
        new BigInteger(random.nextInt(200), random),
        new BigDecimal(new BigInteger(random.nextInt(100), random), random.nextInt(40) - 20));
  }

  private static Instant instant(Random random) {
    return Instant.ofEpochSecond(random.nextLong(8_000_000_000L), random.nextInt(1_000_000_000));
  }

  private static Node node(Random random, int depth) {
    List<Leaf> leaves = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      leaves.add(leaf(random));
    }
    Map<String, Node> children = new LinkedHashMap<>();
    for (int i = depth == 0 ? 0 : random.nextInt(3); i > 0; i--) {
      children.put(text(random), node(random, depth - 1));
    }
    Map<Kind, Integer> counts = new LinkedHashMap<>();
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    for (Kind kind : Kind.values()) {
      if (random.nextBoolean()) {
        counts.put(kind, random.nextInt());
        kinds.add(kind);
      }
    }
    List<List<Integer>> matrix = new ArrayList<>();
    for (int i = random.nextInt(3); i > 0; i--) {
      matrix.add(random.ints(random.nextInt(4)).boxed().toList());
    }
    Instant instant = instant(random);
    return new Node(
        new UUID(random.nextLong(), random.nextLong()),
        Kind.values()[random.nextInt(3)],
        kinds,
        random.nextBoolean() ? Optional.of(text(random)) : Optional.empty(),
        random.nextBoolean() ? OptionalLong.of(random.nextLong()) : OptionalLong.empty(),
        instant,
        LocalDate.ofEpochDay(random.nextInt(2_000_000) - 1_000_000),
        instant(random).atOffset(ZoneOffset.ofTotalSeconds((random.nextInt(145) - 72) * 900)),
        instant(random).atZone(ZoneId.of(ZONES[random.nextInt(ZONES.length)])),
        Duration.ofSeconds(random.nextInt(), random.nextInt(1_000_000_000)),
        leaves,
        children,
        counts,
        matrix);
  }

  @Test
  void thousandRandomRecords_survive() {
    JacksonCodec<Node> codec = JacksonCodec.of(Node.class);
    JacksonCodec<Map<String, List<Node>>> generic =
        JacksonCodec.of(new TypeReference<Map<String, List<Node>>>() {});
    for (long seed = 0; seed < 1000; seed++) {
      Random random = new Random(seed);
      Node value = node(random, 2);
      assertThat(codec.decode(codec.encode(value))).as("seed %d", seed).isEqualTo(value);
      Map<String, List<Node>> nested = Map.of(text(random), List.of(value, node(random, 0)));
      assertThat(generic.decode(generic.encode(nested))).as("seed %d", seed).isEqualTo(nested);
    }
  }
}
