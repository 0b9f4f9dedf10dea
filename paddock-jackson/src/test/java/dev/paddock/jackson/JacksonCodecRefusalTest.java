/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.paddock.CodecException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import tools.jackson.databind.jsontype.PolymorphicTypeValidator;
import tools.jackson.databind.jsontype.impl.StdTypeResolverBuilder;

/** What the codec refuses, and what it says then. */
final class JacksonCodecRefusalTest {

  enum Colour {
    RED,
    GREEN
  }

  record Part(String name, int count) {}

  record Whole(
      int number,
      double size,
      String text,
      boolean flag,
      Colour colour,
      List<Part> parts,
      Map<String, Integer> scores) {}

  private static final JacksonCodec<Whole> CODEC = JacksonCodec.of(Whole.class);

  private static final Whole WHOLE =
      new Whole(
          7, 1.5, "text", true, Colour.GREEN, List.of(new Part("bolt", 3)), Map.of("points", 12));

  private static final String JSON =
      "{\"number\":7,\"size\":1.5,\"text\":\"text\",\"flag\":true,\"colour\":\"GREEN\","
          + "\"parts\":[{\"name\":\"bolt\",\"count\":3}],\"scores\":{\"points\":12}}";

  private static byte[] json(String text) {
    return text.getBytes(UTF_8);
  }

  private static void assertRefused(byte[] payload) {
    assertThatExceptionOfType(CodecException.class)
        .as(new String(payload, UTF_8))
        .isThrownBy(() -> CODEC.decode(payload))
        .withMessageContaining("Whole");
  }

  @Test
  void payload_ofTheTests_isReadable() {
    assertThat(CODEC.decode(json(JSON))).isEqualTo(WHOLE);
  }

  @Test
  void payload_empty_isRefused() {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> CODEC.decode(new byte[0]))
        .withMessageContaining("empty")
        .withMessageContaining("Whole");
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "\n\t", "  \r\n "})
  void payload_ofWhiteSpace_isRefused(String payload) {
    assertRefused(json(payload));
  }

  @Test
  void payload_truncatedAnywhere_isRefused() {
    byte[] whole = CODEC.encode(WHOLE);

    for (int length = 0; length < whole.length; length++) {
      byte[] truncated = Arrays.copyOf(whole, length);
      assertRefused(truncated);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"x", "}", "{}", "null", "0", "\"\"", ",", "\u0000", "/* c */", "\uFEFF"})
  void payload_withTrailingGarbage_isRefused(String garbage) {
    assertRefused(json(JSON + garbage));
    assertRefused(json(JSON + " " + garbage));
    assertRefused(json(JSON + JSON));
  }

  @Test
  void payload_withTrailingWhiteSpace_isReadable() {
    assertThat(CODEC.decode(json(JSON + " \n"))).isEqualTo(WHOLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "\"text\"",
        "1",
        "true",
        "{}",
        "[" + "1" + "]",
        "<html>502 Bad Gateway</html>",
        "\u0000\u0001\u0002",
        "nul",
        "nulll",
        "NaN"
      })
  void payload_ofAnotherType_isRefused(String payload) {
    assertRefused(json(payload));
  }

  @Test
  void payload_ofJavaSerialization_isRefused() {
    assertRefused(new byte[] {(byte) 0xAC, (byte) 0xED, 0, 5, 't', 0, 1, 'x'});
  }

  static Stream<String> misfits() {
    return Stream.of(
        // Each property once with a value of another kind.
        JSON.replace(":7", ":\"7\""),
        JSON.replace(":7", ":7.0"),
        JSON.replace(":7", ":7.9"),
        JSON.replace(":7", ":true"),
        JSON.replace(":7", ":null"),
        JSON.replace(":7", ":[7]"),
        JSON.replace(":7", ":{}"),
        JSON.replace(":7", ":2147483648"),
        JSON.replace(":7", ":-99999999999999999999"),
        JSON.replace("1.5", "\"1.5\""),
        JSON.replace("1.5", "null"),
        JSON.replace("1.5", "false"),
        JSON.replace("\"text\":\"text\"", "\"text\":5"),
        JSON.replace("\"text\":\"text\"", "\"text\":5.5"),
        JSON.replace("\"text\":\"text\"", "\"text\":true"),
        JSON.replace("\"text\":\"text\"", "\"text\":{}"),
        JSON.replace("\"text\":\"text\"", "\"text\":[\"text\"]"),
        JSON.replace(":true", ":1"),
        JSON.replace(":true", ":\"true\""),
        JSON.replace(":true", ":null"),
        JSON.replace("\"GREEN\"", "1"),
        JSON.replace("\"GREEN\"", "\"1\""),
        JSON.replace("\"GREEN\"", "\"\""),
        JSON.replace("\"GREEN\"", "\"BLUE\""),
        JSON.replace("\"GREEN\"", "\"green\""),
        JSON.replace("[{\"name\":\"bolt\",\"count\":3}]", "{\"name\":\"bolt\",\"count\":3}"),
        JSON.replace("[{\"name\":\"bolt\",\"count\":3}]", "\"\""),
        JSON.replace("{\"name\":\"bolt\",\"count\":3}", "\"\""),
        JSON.replace("\"count\":3", "\"count\":\"3\""),
        JSON.replace(",\"count\":3", ""),
        JSON.replace("{\"points\":12}", "[]"),
        JSON.replace("{\"points\":12}", "{\"points\":\"12\"}"),
        // Each property once missing.
        JSON.replace("\"number\":7,", ""),
        JSON.replace("\"size\":1.5,", ""),
        JSON.replace("\"text\":\"text\",", ""),
        JSON.replace("\"flag\":true,", ""),
        JSON.replace("\"colour\":\"GREEN\",", ""),
        JSON.replace("\"parts\":[{\"name\":\"bolt\",\"count\":3}],", ""),
        JSON.replace(",\"scores\":{\"points\":12}", ""));
  }

  @ParameterizedTest
  @MethodSource("misfits")
  void payload_withAMisfit_isRefused(String payload) {
    assertThat(payload).isNotEqualTo(JSON);
    assertRefused(json(payload));
  }

  @Test
  void payload_withAFlippedByte_isRefusedOrAnotherWhole() {
    byte[] whole = json(JSON);
    int refused = 0;
    for (int i = 0; i < whole.length; i++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] broken = whole.clone();
        broken[i] ^= (byte) (1 << bit);
        try {
          // A digit or a letter may turn into another; then it must still be a complete value.
          assertThat(CODEC.decode(broken)).hasNoNullFieldsOrProperties();
        } catch (CodecException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(whole.length * 4);
  }

  @Test
  void payload_withInvalidUtf8_isRefused() {
    byte[] broken = json(JSON.replace("\"text\":\"text\"", "\"text\":\"t~xt\""));
    for (int i = 0; i < broken.length; i++) {
      if (broken[i] == '~') {
        broken[i] = (byte) 0xFF;
      }
    }
    assertRefused(broken);
  }

  @Test
  void payload_nestedTooDeeply_isRefusedWithoutStackOverflow() {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(
            () ->
                JacksonCodec.of(new TypeReference<List<Whole>>() {})
                    .decode(json("[".repeat(100_000))));
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(
            () ->
                JacksonCodec.of(tools.jackson.databind.JsonNode.class)
                    .decode(json("[".repeat(100_000))));
  }

  // --- default typing

  private static final PolymorphicTypeValidator ANYTHING =
      BasicPolymorphicTypeValidator.builder().allowIfBaseType(Object.class).build();

  @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
  interface ByClass {}

  static Stream<JsonMapper> mappersThatLetJsonChooseClasses() {
    return Stream.of(
        JsonMapper.builder().activateDefaultTyping(ANYTHING).build(),
        JsonMapper.builder().activateDefaultTyping(ANYTHING, DefaultTyping.NON_FINAL).build(),
        JsonMapper.builder()
            .activateDefaultTyping(
                ANYTHING, DefaultTyping.JAVA_LANG_OBJECT, JsonTypeInfo.As.WRAPPER_ARRAY)
            .build(),
        JsonMapper.builder()
            .activateDefaultTypingAsProperty(
                ANYTHING, DefaultTyping.OBJECT_AND_NON_CONCRETE, "@class")
            .build(),
        JsonMapper.builder()
            .setDefaultTyping(
                new StdTypeResolverBuilder(
                    JsonTypeInfo.Value.from(ByClass.class.getAnnotation(JsonTypeInfo.class)), null))
            .build(),
        JsonMapper.builder().addMixIn(Object.class, ByClass.class).build());
  }

  @ParameterizedTest
  @MethodSource("mappersThatLetJsonChooseClasses")
  void mapper_withDefaultTyping_isRefused(JsonMapper mapper) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(mapper, Whole.class))
        .withMessageContaining("default typing")
        .withMessageContaining("Whole")
        .withMessageContaining("deactivateDefaultTyping");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(mapper, new TypeReference<List<Whole>>() {}))
        .withMessageContaining("default typing");
  }

  @Test
  void mapper_withDefaultTypingSwitchedOffAgain_isAccepted() {
    JsonMapper mapper =
        JsonMapper.builder()
            .activateDefaultTyping(ANYTHING)
            .build()
            .rebuild()
            .deactivateDefaultTyping()
            .build();

    assertThat(JacksonCodec.of(mapper, Whole.class).decode(json(JSON))).isEqualTo(WHOLE);
  }

  // --- what messages tell, and what they must not

  private static final String SECRET = "hunter2";

  private static void assertNoSecret(CodecException e) {
    StringWriter printed = new StringWriter();
    e.printStackTrace(new PrintWriter(printed));
    assertThat(printed.toString()).doesNotContain(SECRET).doesNotContain("98765");
    for (Throwable t = e; t != null; t = t.getCause()) {
      assertThat(t.toString() + t.getMessage() + t.getLocalizedMessage())
          .doesNotContain(SECRET)
          .doesNotContain("98765");
    }
  }

  static Stream<String> payloadsWithASecret() {
    return Stream.of(
        JSON.replace(":7", ":\"hunter2\""),
        JSON.replace(":7", ":98765.5"),
        JSON.replace(":7", ":9876598765987659876598765"),
        JSON.replace("\"GREEN\"", "\"hunter2\""),
        JSON.replace("\"points\":12", "\"hunter2\":\"12\""),
        JSON.replace("\"points\":12", "\"hunter2\":[98765]"),
        JSON.replace("\"text\":\"text\"", "\"text\":{\"hunter2\":\"hunter2\"}"),
        JSON.replace("\"count\":3", "\"count\":\"hunter2\""),
        JSON.replace(":true", ":hunter2"),
        JSON.replace("\"text\":\"text\"", "\"text\":\"hunter2"),
        JSON + "hunter2",
        JSON + "\"hunter2\"",
        "hunter2",
        "\"hunter2\"",
        "[\"hunter2\", 98765]");
  }

  @ParameterizedTest
  @MethodSource("payloadsWithASecret")
  void messageOfAFailedDecode_namesTheType_butNoPayload(String payload) {
    JsonMapper withSource =
        JsonMapper.builder().enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION).build();
    for (JacksonCodec<Whole> codec : List.of(CODEC, JacksonCodec.of(withSource, Whole.class))) {
      CodecException e =
          catchThrowableOfType(CodecException.class, () -> codec.decode(json(payload)));

      if (codec == CODEC) {
        assertThat(e).as(payload).isNotNull();
      }
      if (e != null) {
        assertThat(e).hasMessageContaining("Whole");
        assertNoSecret(e);
      }
    }
  }

  @Test
  void messageOfAFailedDecode_saysWhere() {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> CODEC.decode(json(JSON.replace("\"count\":3", "\"count\":\"x\""))))
        .withMessageContaining("Whole.parts[0].count")
        .withMessageMatching("(?s).*, byte \\d+");
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> CODEC.decode(json(JSON.replace("12", "\"x\""))))
        .withMessageContaining("Whole.scores.?");
  }

  public static final class Grumpy {
    private final String text;

    Grumpy(String text) {
      this.text = text;
    }

    public String getText() {
      if (text.isEmpty()) {
        return text;
      }
      throw new IllegalStateException("can't render " + text, new RuntimeException(text));
    }
  }

  public static final class Opaque {
    private final String secret;

    Opaque(String secret) {
      this.secret = secret;
    }

    @Override
    public String toString() {
      return secret;
    }
  }

  record Holder(Map<String, Opaque> map) {}

  @Test
  void messageOfAFailedEncode_namesTypeAndPlace_butNoValue() {
    JacksonCodec<Holder> codec =
        JacksonCodec.of(
            JsonMapper.builder().enable(SerializationFeature.FAIL_ON_EMPTY_BEANS).build(),
            Holder.class);

    CodecException e =
        catchThrowableOfType(
            CodecException.class,
            () -> codec.encode(new Holder(Map.of(SECRET, new Opaque(SECRET)))));

    assertThat(e)
        .hasMessageContaining("can't encode")
        .hasMessageContaining("Holder.map.?")
        .hasMessageContaining("Opaque");
    assertNoSecret(e);
  }

  @Test
  void messageOfAFailedEncode_ofAGetterThatThrows_keepsItsStackTrace() {
    for (JsonMapper mapper :
        List.of(
            JsonMapper.builder().build(),
            JsonMapper.builder().disable(SerializationFeature.WRAP_EXCEPTIONS).build())) {
      JacksonCodec<Grumpy> codec = JacksonCodec.of(mapper, Grumpy.class);

      CodecException e =
          catchThrowableOfType(CodecException.class, () -> codec.encode(new Grumpy(SECRET)));

      assertThat(e).hasMessageContaining("Grumpy");
      assertNoSecret(e);
      StringWriter printed = new StringWriter();
      e.printStackTrace(new PrintWriter(printed));
      assertThat(printed.toString())
          .contains("java.lang.IllegalStateException")
          .contains("Grumpy.getText");
    }
  }

  record Loop(List<Object> items) {}

  @Test
  void messageOfAFailedEncode_ofALoop_isShort() {
    List<Object> items = new ArrayList<>();
    items.add(items);

    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(Loop.class).encode(new Loop(items)))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(500));
  }

  @Test
  void object_withoutProperties_isNotEncoded() {
    JacksonCodec<Map<String, Object>> codec =
        JacksonCodec.of(new TypeReference<Map<String, Object>>() {});

    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.encode(Map.of("k", new Opaque("x"))));
  }

  /** Takes whatever it is given, so that its property names are data. */
  public static final class Bag {
    private final Map<String, Integer> all = new LinkedHashMap<>();

    @JsonAnyGetter
    public Map<String, Integer> all() {
      return all;
    }

    @JsonAnySetter
    public void set(String name, Integer value) {
      all.put(name, value);
    }
  }

  @Test
  void messageOfAFailedDecode_hidesNamesThatAreData() {
    CodecException e =
        catchThrowableOfType(
            CodecException.class,
            () -> JacksonCodec.of(Bag.class).decode(json("{\"hunter2\":\"98765\"}")));

    assertThat(e).hasMessageContaining("Bag");
    assertNoSecret(e);
  }

  record Picky(int number) {
    Picky {
      if (number > 10) {
        throw new IllegalArgumentException("too large: " + number);
      }
    }
  }

  @Test
  void constructorThatRefuses_isACodecExceptionWithoutItsMessage() {
    CodecException e =
        catchThrowableOfType(
            CodecException.class,
            () -> JacksonCodec.of(Picky.class).decode(json("{\"number\":98765}")));

    assertThat(e).hasMessageContaining("Picky");
    assertNoSecret(e);
  }
}
