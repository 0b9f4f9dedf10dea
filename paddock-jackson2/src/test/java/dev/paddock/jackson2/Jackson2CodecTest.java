/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson2;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import dev.paddock.CodecException;
import dev.paddock.jackson.JacksonCodec;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class Jackson2CodecTest {
  enum Kind {
    NEWS,
    BLOG;

    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  record Post(
      long id,
      String title,
      @Nullable String subtitle,
      Kind kind,
      BigDecimal price,
      Optional<String> tag,
      List<Integer> votes,
      Map<String, Duration> times,
      Instant written,
      LocalDate day,
      OffsetDateTime offset,
      ZonedDateTime zoned,
      UUID uuid) {
    static Post sample() {
      return new Post(
          42,
          "Grüße",
          null,
          Kind.BLOG,
          new BigDecimal("12.50"),
          Optional.of("t"),
          List.of(1, 2),
          Map.of("read", Duration.ofSeconds(90)),
          Instant.parse("2026-01-02T03:04:05.678Z"),
          LocalDate.of(2026, 1, 2),
          OffsetDateTime.parse("2026-01-02T03:04:05+02:00"),
          ZonedDateTime.parse("2026-01-02T03:04:05+01:00[Europe/Paris]"),
          new UUID(1, 2));
    }
  }

  private static void assertSame(Post read, Post written) {
    assertThat(read).usingRecursiveComparison().isEqualTo(written);
  }

  @Test
  void value_encodedAndDecoded_isTheSame() {
    Jackson2Codec<Post> codec = Jackson2Codec.of(Post.class);
    assertSame(codec.decode(codec.encode(Post.sample())), Post.sample());
  }

  @Test
  void value_ofJackson3_isReadAndReadsBack() {
    Jackson2Codec<Post> two = Jackson2Codec.of(Post.class);
    JacksonCodec<Post> three = JacksonCodec.of(Post.class);
    assertThat(new String(two.encode(Post.sample()), UTF_8))
        .isEqualTo(new String(three.encode(Post.sample()), UTF_8));
    assertSame(two.decode(three.encode(Post.sample())), Post.sample());
    assertSame(three.decode(two.encode(Post.sample())), Post.sample());
  }

  @Test
  void genericType_encodedAndDecoded_isTheSame() {
    Jackson2Codec<Map<String, List<LocalDate>>> codec =
        Jackson2Codec.of(new TypeReference<Map<String, List<LocalDate>>>() {});
    Map<String, List<LocalDate>> value = Map.of("a", List.of(LocalDate.of(2026, 1, 2)));
    assertThat(codec.decode(codec.encode(value))).isEqualTo(value);
  }

  record Small(long id, String title) {}

  @Test
  void payload_thatDoesNotFit_isRefused() {
    Jackson2Codec<Small> codec = Jackson2Codec.of(Small.class);
    assertThat(codec.decode("{\"id\":1,\"title\":\"a\",\"more\":2}".getBytes(UTF_8)))
        .isEqualTo(new Small(1, "a"));
    for (String payload :
        List.of(
            "",
            "null",
            "{\"id\":1}",
            "{\"title\":\"a\"}",
            "{\"id\":\"1\",\"title\":\"a\"}",
            "{\"id\":1.5,\"title\":\"a\"}",
            "{\"id\":null,\"title\":\"a\"}",
            "{\"id\":1,\"title\":7}",
            "{\"id\":1,\"title\":\"a\"} {}",
            "{\"id\":1,\"title\":\"a\"",
            "[]")) {
      assertThatThrownBy(() -> codec.decode(payload.getBytes(UTF_8)))
          .as(payload)
          .isInstanceOf(CodecException.class);
    }
  }

  @Test
  void message_ofAPayloadThatDoesNotFit_doesNotQuoteIt() {
    assertThatThrownBy(
            () ->
                Jackson2Codec.of(Small.class)
                    .decode("{\"id\":\"secret\",\"title\":\"a\"}".getBytes(UTF_8)))
        .isInstanceOf(CodecException.class)
        .hasMessageContaining("Small.id")
        .satisfies(
            failure -> assertThat(String.valueOf(failure.getCause())).doesNotContain("secret"))
        .hasMessageNotContaining("secret");
  }

  @Test
  void mapperWithDefaultTyping_isRefused() {
    ObjectMapper open =
        new ObjectMapper()
            .activateDefaultTyping(
                BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build());
    assertThatThrownBy(() -> Jackson2Codec.of(open, new TypeReference<List<Object>>() {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("default typing");
    assertThatThrownBy(() -> Jackson2Codec.of(Object.class))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
