/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonIgnoreType;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.annotation.JsonView;
import com.fasterxml.jackson.annotation.OptBoolean;
import dev.paddock.Codec;
import dev.paddock.CodecException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.NullNode;

final class JacksonCodecTest {

  enum Visibility {
    PUBLIC,
    FRIENDS
  }

  record Author(String name, Optional<String> mail) {}

  record Post(
      long id, String title, Author author, List<String> tags, Visibility visibility, int likes) {}

  record Times(
      Instant instant,
      LocalDate date,
      LocalTime time,
      LocalDateTime dateTime,
      OffsetDateTime offset,
      ZonedDateTime zoned,
      Duration duration,
      Period period,
      YearMonth month,
      ZoneId zone,
      DayOfWeek day) {}

  record Numbers(
      byte b,
      short s,
      int i,
      long l,
      float f,
      double d,
      boolean z,
      char c,
      BigInteger big,
      BigDecimal decimal,
      OptionalInt optional,
      UUID id) {}

  record Nullable1(@Nullable String text, @Nullable Integer number) {}

  record Tree(String label, List<Tree> children) {}

  record Page<T>(List<T> items, int number) {}

  record Empty() {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = Circle.class, name = "circle"),
    @JsonSubTypes.Type(value = Square.class, name = "square")
  })
  sealed interface Shape {}

  record Circle(double radius) implements Shape {}

  record Square(double side) implements Shape {}

  interface Untold {}

  /** A class in the style of beans, with setters. */
  public static final class Bean {
    private int count;
    private @Nullable String label;

    public int getCount() {
      return count;
    }

    public void setCount(int count) {
      this.count = count;
    }

    public @Nullable String getLabel() {
      return label;
    }

    public void setLabel(@Nullable String label) {
      this.label = label;
    }
  }

  private static final Post POST =
      new Post(
          42,
          "Grüße, \"Welt\" \uD83D\uDC18\u0000",
          new Author("Ann", Optional.of("ann@example.org")),
          List.of("a", "", "b"),
          Visibility.FRIENDS,
          -7);

  private static byte[] json(String text) {
    return text.getBytes(UTF_8);
  }

  private static <V> V roundTrip(Codec<V> codec, V value) {
    return codec.decode(codec.encode(value));
  }

  // --- types

  @Test
  void record_nested_survives() {
    JacksonCodec<Post> codec = JacksonCodec.of(Post.class);

    assertThat(roundTrip(codec, POST)).isEqualTo(POST);
  }

  @Test
  void record_encoded_isPlainJson() {
    assertThat(JacksonCodec.of(Author.class).encode(new Author("Ann", Optional.empty())))
        .asString(UTF_8)
        .isEqualTo("{\"name\":\"Ann\",\"mail\":null}");
  }

  @Test
  void list_ofRecords_keepsElementType() {
    JacksonCodec<List<Post>> codec = JacksonCodec.of(new TypeReference<List<Post>>() {});

    List<Post> back = roundTrip(codec, List.of(POST, POST));

    assertThat(back).containsExactly(POST, POST);
    assertThat(back.get(0)).isInstanceOf(Post.class);
  }

  @Test
  void map_ofEnumToLists_keepsTypes() {
    JacksonCodec<Map<Visibility, List<Author>>> codec =
        JacksonCodec.of(new TypeReference<Map<Visibility, List<Author>>>() {});
    Map<Visibility, List<Author>> value =
        Map.of(Visibility.PUBLIC, List.of(new Author("Bo", Optional.empty())));

    assertThat(roundTrip(codec, value)).isEqualTo(value);
  }

  @Test
  void genericRecord_keepsTypeArgument() {
    JacksonCodec<Page<Author>> codec = JacksonCodec.of(new TypeReference<Page<Author>>() {});
    Page<Author> value = new Page<>(List.of(new Author("Bo", Optional.of("b"))), 3);

    assertThat(roundTrip(codec, value)).isEqualTo(value);
  }

  @Test
  void javaTime_survivesWithOffsetAndZone() {
    Times value =
        new Times(
            Instant.parse("2026-02-03T04:05:06.789012345Z"),
            LocalDate.of(-1, 1, 1),
            LocalTime.of(23, 59, 59, 999_999_999),
            LocalDateTime.of(2024, 2, 29, 0, 0),
            OffsetDateTime.of(2026, 1, 2, 3, 4, 5, 6, ZoneOffset.ofHoursMinutes(5, 30)),
            ZonedDateTime.of(2026, 7, 1, 12, 0, 0, 0, ZoneId.of("Europe/Paris")),
            Duration.ofSeconds(-3, 5),
            Period.of(1, -2, 3),
            YearMonth.of(2026, 12),
            ZoneId.of("Asia/Tokyo"),
            DayOfWeek.SUNDAY);

    assertThat(roundTrip(JacksonCodec.of(Times.class), value)).isEqualTo(value);
  }

  @Test
  void numbers_atTheirLimits_survive() {
    Numbers value =
        new Numbers(
            Byte.MIN_VALUE,
            Short.MIN_VALUE,
            Integer.MIN_VALUE,
            Long.MIN_VALUE,
            Float.MIN_VALUE,
            -0.0,
            true,
            '\uFFFF',
            BigInteger.TWO.pow(300),
            new BigDecimal("1.10"),
            OptionalInt.of(5),
            new UUID(-1, 1));
    Numbers odd =
        new Numbers(
            Byte.MAX_VALUE,
            Short.MAX_VALUE,
            Integer.MAX_VALUE,
            Long.MAX_VALUE,
            Float.NaN,
            Double.NEGATIVE_INFINITY,
            false,
            '\u0000',
            BigInteger.ZERO,
            new BigDecimal("1E+30"),
            OptionalInt.empty(),
            new UUID(0, 0));
    JacksonCodec<Numbers> codec = JacksonCodec.of(Numbers.class);

    assertThat(roundTrip(codec, value)).isEqualTo(value);
    assertThat(roundTrip(codec, odd)).isEqualTo(odd);
  }

  @Test
  void bytes_survive() {
    byte[] data = {0, 1, -1, 127, -128};

    assertThat(
            roundTrip(
                    JacksonCodec.of(new TypeReference<Map<String, byte[]>>() {}), Map.of("k", data))
                .get("k"))
        .containsExactly(data);
  }

  @Test
  void nulls_insideAValue_survive() {
    Nullable1 value = new Nullable1(null, null);

    assertThat(roundTrip(JacksonCodec.of(Nullable1.class), value)).isEqualTo(value);
  }

  @Test
  void scalarsAtTheTop_survive() {
    assertThat(roundTrip(JacksonCodec.of(String.class), "")).isEmpty();
    assertThat(roundTrip(JacksonCodec.of(String.class), "null")).isEqualTo("null");
    assertThat(roundTrip(JacksonCodec.of(Long.class), Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(roundTrip(JacksonCodec.of(Boolean.class), false)).isFalse();
    assertThat(roundTrip(JacksonCodec.of(Visibility.class), Visibility.PUBLIC))
        .isEqualTo(Visibility.PUBLIC);
    assertThat(roundTrip(JacksonCodec.of(new TypeReference<Set<Integer>>() {}), Set.of()))
        .isEmpty();
  }

  @Test
  void emptyRecord_survives() {
    assertThat(roundTrip(JacksonCodec.of(Empty.class), new Empty())).isEqualTo(new Empty());
  }

  @Test
  void sealedType_withNamedSubtypes_survives() {
    JacksonCodec<List<Shape>> codec = JacksonCodec.of(new TypeReference<List<Shape>>() {});
    List<Shape> value = List.of(new Circle(1.5), new Square(2));

    assertThat(roundTrip(codec, value)).isEqualTo(value);
  }

  @Test
  void bean_withSetters_survives() {
    Bean bean = new Bean();
    bean.setCount(3);
    bean.setLabel("x");

    Bean back = roundTrip(JacksonCodec.of(Bean.class), bean);

    assertThat(back.getCount()).isEqualTo(3);
    assertThat(back.getLabel()).isEqualTo("x");
  }

  @Test
  void jsonTree_survives() {
    JacksonCodec<JsonNode> codec = JacksonCodec.of(JsonNode.class);
    JsonNode tree = codec.decode(json("{\"a\":[1,null,\"x\"]}"));

    assertThat(roundTrip(codec, tree)).isEqualTo(tree);
  }

  @Test
  void deepTree_survives() {
    Tree tree = new Tree("leaf", List.of());
    for (int i = 0; i < 100; i++) {
      tree = new Tree("n" + i, List.of(tree));
    }

    assertThat(roundTrip(JacksonCodec.of(Tree.class), tree)).isEqualTo(tree);
  }

  // --- what is refused when the codec is made

  @Test
  void genericClass_withoutItsArguments_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(List.class))
        .withMessageContaining("java.util.List")
        .withMessageContaining("TypeReference");
  }

  @Test
  void object_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(Object.class))
        .withMessageContaining("java.lang.Object");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(new TypeReference<Object>() {}))
        .withMessageContaining("java.lang.Object");
  }

  @Test
  void interfaceWithoutSubtypes_isRefusedAtOnce() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JacksonCodec.of(Untold.class))
        .withMessageContaining("can't read")
        .withMessageContaining("Untold");
  }

  // --- schema version

  @Test
  void schemaVersion_unlessSet_isZero() {
    assertThat(JacksonCodec.of(Post.class).schemaVersion()).isZero();
  }

  @Test
  void schemaVersion_set_isACopy() {
    JacksonCodec<Post> first = JacksonCodec.of(Post.class);

    JacksonCodec<Post> second = first.withSchemaVersion(2);

    assertThat(first.schemaVersion()).isZero();
    assertThat(second.schemaVersion()).isEqualTo(2);
    assertThat(second.decode(first.encode(POST))).isEqualTo(POST);
    assertThat(second.toString()).contains("Post").contains("2");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 999_999_999})
  void schemaVersion_inRange_isAccepted(int version) {
    assertThat(JacksonCodec.of(Post.class).withSchemaVersion(version).schemaVersion())
        .isEqualTo(version);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, 1_000_000_000, Integer.MAX_VALUE})
  void schemaVersion_outOfRange_isRefused(int version) {
    JacksonCodec<Post> codec = JacksonCodec.of(Post.class);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.withSchemaVersion(version))
        .withMessageContaining("schemaVersion")
        .withMessageContaining(Integer.toString(version));
  }

  // --- rolling upgrade

  record UserV1(String name) {}

  record UserV2Required(String name, String mail) {}

  record UserV2Optional(String name, Optional<String> mail, OptionalInt age) {}

  record UserV2Tolerant(
      String name, @JsonProperty(isRequired = OptBoolean.FALSE) @Nullable String mail) {}

  record UserV2Primitive(String name, int age) {}

  @Test
  void rollingUpgrade_oldVersionReadsNew_ignoringTheNewComponent() {
    byte[] written = JacksonCodec.of(UserV2Required.class).encode(new UserV2Required("Ann", "a@b"));

    assertThat(JacksonCodec.of(UserV1.class).decode(written)).isEqualTo(new UserV1("Ann"));
  }

  @Test
  void rollingUpgrade_newVersionReadsOld_withAnOptionalComponent() {
    byte[] written = JacksonCodec.of(UserV1.class).encode(new UserV1("Ann"));

    assertThat(JacksonCodec.of(UserV2Optional.class).decode(written))
        .isEqualTo(new UserV2Optional("Ann", Optional.empty(), OptionalInt.empty()));
  }

  @Test
  void rollingUpgrade_newVersionReadsOld_withAComponentDeclaredNotRequired() {
    byte[] written = JacksonCodec.of(UserV1.class).encode(new UserV1("Ann"));

    assertThat(JacksonCodec.of(UserV2Tolerant.class).decode(written))
        .isEqualTo(new UserV2Tolerant("Ann", null));
  }

  @Test
  void rollingUpgrade_newVersionWithAMandatoryComponent_refusesOld() {
    byte[] written = JacksonCodec.of(UserV1.class).encode(new UserV1("Ann"));

    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(UserV2Required.class).decode(written));
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(UserV2Primitive.class).decode(written));
  }

  // --- annotations that leave properties out must not make a type unreadable

  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Sparse(@Nullable String a, @Nullable String b) {}

  record SparseComponent(@JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> a, int b) {}

  record WithIgnored(String a, @JsonIgnore @Nullable String b) {}

  record Renamed(@JsonProperty("x-y") String a, @JsonProperty(value = "z") String b) {}

  record WriteOnly(
      String a, @JsonProperty(access = JsonProperty.Access.WRITE_ONLY) @Nullable String b) {}

  record ReadOnly(
      String a, @JsonProperty(access = JsonProperty.Access.READ_ONLY) @Nullable String b) {}

  @JsonIgnoreProperties("b")
  record IgnoredByClass(String a, @Nullable String b) {}

  @JsonIgnoreProperties(value = "b", allowGetters = true)
  record IgnoredWhenRead(String a, @Nullable String b) {}

  @JsonIgnoreType
  record Secret(String s) {}

  record WithIgnoredType(String a, @Nullable Secret b) {}

  record Unwrapped(String a, @JsonUnwrapped Inner inner) {}

  record Inner(int x, Optional<String> y) {}

  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  record Tuple(int a, @Nullable String b, Optional<String> c) {}

  @JsonNaming(PropertyNamingStrategies.KebabCaseStrategy.class)
  record Kebab(String firstName, Optional<Integer> howOld) {}

  record Wrapped(@JsonValue String text) {}

  record Viewed(String a, @JsonView(Wrapped.class) String b) {}

  record Injected(
      String a,
      @JacksonInject(useInput = OptBoolean.FALSE, optional = OptBoolean.TRUE) @Nullable String b) {}

  static final class WithHiddenGetter {
    private final String a;
    private final @Nullable String b;

    @JsonCreator
    WithHiddenGetter(@JsonProperty("a") String a, @JsonProperty("b") @Nullable String b) {
      this.a = a;
      this.b = b;
    }

    public String getA() {
      return a;
    }

    @JsonIgnore
    public @Nullable String getB() {
      return b;
    }
  }

  static final class ByFactory {
    private final String a;
    private final int b;

    private ByFactory(String a, int b) {
      this.a = a;
      this.b = b;
    }

    @JsonCreator
    static ByFactory of(@JsonProperty("a") String a, @JsonProperty("b") int b) {
      return new ByFactory(a, b);
    }

    @JsonProperty
    String a() {
      return a;
    }

    @JsonProperty
    int b() {
      return b;
    }
  }

  @Test
  void nullsLeftOut_areReadBack() {
    assertThat(roundTrip(JacksonCodec.of(Sparse.class), new Sparse(null, "b")))
        .isEqualTo(new Sparse(null, "b"));
    JacksonCodec<SparseComponent> codec = JacksonCodec.of(SparseComponent.class);
    byte[] payload = codec.encode(new SparseComponent(List.of(), 1));
    assertThat(payload).asString(UTF_8).isEqualTo("{\"b\":1}");
    assertThat(codec.decode(payload).b()).isEqualTo(1);
  }

  @Test
  void componentsIgnored_areNull() {
    assertThat(roundTrip(JacksonCodec.of(WithIgnored.class), new WithIgnored("a", "b")))
        .isEqualTo(new WithIgnored("a", null));
    assertThat(roundTrip(JacksonCodec.of(WriteOnly.class), new WriteOnly("a", "b")))
        .isEqualTo(new WriteOnly("a", null));
    assertThat(roundTrip(JacksonCodec.of(ReadOnly.class), new ReadOnly("a", "b")).a())
        .isEqualTo("a");
    assertThat(roundTrip(JacksonCodec.of(IgnoredByClass.class), new IgnoredByClass("a", "b")))
        .isEqualTo(new IgnoredByClass("a", null));
    assertThat(roundTrip(JacksonCodec.of(IgnoredWhenRead.class), new IgnoredWhenRead("a", "b")))
        .isEqualTo(new IgnoredWhenRead("a", null));
    assertThat(
            roundTrip(
                JacksonCodec.of(WithIgnoredType.class), new WithIgnoredType("a", new Secret("s"))))
        .isEqualTo(new WithIgnoredType("a", null));
    WithHiddenGetter back =
        roundTrip(JacksonCodec.of(WithHiddenGetter.class), new WithHiddenGetter("a", "b"));
    assertThat(back.getA()).isEqualTo("a");
    assertThat(back.getB()).isNull();
  }

  @Test
  void componentUnwrapped_survives() {
    Unwrapped value = new Unwrapped("a", new Inner(1, Optional.empty()));

    assertThat(roundTrip(JacksonCodec.of(Unwrapped.class), value)).isEqualTo(value);
  }

  @Test
  void recordAsArray_survives() {
    Tuple value = new Tuple(1, null, Optional.of("c"));

    assertThat(roundTrip(JacksonCodec.of(Tuple.class), value)).isEqualTo(value);
  }

  @Test
  void namingByAnnotation_survives() {
    Kebab value = new Kebab("Ann", Optional.of(7));

    assertThat(roundTrip(JacksonCodec.of(Kebab.class), value)).isEqualTo(value);
  }

  @Test
  void wrapperOfOneValue_survives() {
    assertThat(roundTrip(JacksonCodec.of(Wrapped.class), new Wrapped("x")))
        .isEqualTo(new Wrapped("x"));
  }

  @Test
  void viewsAndInjection_survive() {
    assertThat(roundTrip(JacksonCodec.of(Viewed.class), new Viewed("a", "b")))
        .isEqualTo(new Viewed("a", "b"));
    assertThat(roundTrip(JacksonCodec.of(Injected.class), new Injected("a", null)).a())
        .isEqualTo("a");
  }

  @Test
  void classWithAFactory_survives_andMissesNothing() {
    JacksonCodec<ByFactory> codec = JacksonCodec.of(ByFactory.class);

    ByFactory back = roundTrip(codec, ByFactory.of("x", 2));

    assertThat(back.a()).isEqualTo("x");
    assertThat(back.b()).isEqualTo(2);
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.decode(json("{\"b\":1}")));
  }

  @Test
  void componentRenamedByAnnotation_missing_isRefused() {
    JacksonCodec<Renamed> codec = JacksonCodec.of(Renamed.class);

    assertThat(roundTrip(codec, new Renamed("1", "2"))).isEqualTo(new Renamed("1", "2"));
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.decode(json("{\"x-y\":\"1\"}")));
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.decode(json("{\"z\":\"1\"}")));
  }

  // --- an application's own mapper

  private static final JsonMapper SNAKE_CASE =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  record Named(String firstName) {}

  @Test
  void ownMapper_itsSettingsHold() {
    JacksonCodec<Named> codec = JacksonCodec.of(SNAKE_CASE, Named.class);

    assertThat(codec.encode(new Named("Ann")))
        .asString(UTF_8)
        .isEqualTo("{\"first_name\":\"Ann\"}");
    assertThat(roundTrip(codec, new Named("Ann"))).isEqualTo(new Named("Ann"));
    assertThat(
            roundTrip(
                JacksonCodec.of(SNAKE_CASE, new TypeReference<List<Named>>() {}),
                List.of(new Named("Ann"))))
        .containsExactly(new Named("Ann"));
  }

  @Test
  void ownMapper_thatAcceptsTrailingTokens_refusesThemHere() {
    JsonMapper lenient =
        JsonMapper.builder()
            .disable(tools.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    JacksonCodec<Named> codec = JacksonCodec.of(lenient, Named.class);

    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.decode(json("{\"firstName\":\"Ann\"} {}")));
  }

  // --- top-level null

  @Test
  void valueThatWouldBeNull_isRefusedWhenEncoded() {
    JacksonCodec<Optional<String>> codec =
        JacksonCodec.of(new TypeReference<Optional<String>>() {});

    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> codec.encode(Optional.empty()))
        .withMessageContaining("JSON null")
        .withMessageContaining("Optional");
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(JsonNode.class).encode(NullNode.getInstance()));
    assertThat(roundTrip(codec, Optional.of("null"))).contains("null");
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", " null", "null\n", "\t\r\n null \t"})
  void payloadNull_isRefused(String payload) {
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(Post.class).decode(json(payload)))
        .withMessageContaining("null");
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(
            () -> JacksonCodec.of(new TypeReference<Optional<String>>() {}).decode(json(payload)));
    assertThatExceptionOfType(CodecException.class)
        .isThrownBy(() -> JacksonCodec.of(JsonNode.class).decode(json(payload)));
  }

  // --- threads

  @Test
  void codec_usedByManyThreadsFromItsFirstUseOn_isCorrect() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 20; round++) {
        // A new mapper each time, so that the threads race for its caches of serializers too.
        JacksonCodec<Map<String, List<Post>>> codec =
            JacksonCodec.of(
                JsonMapper.builder().build(), new TypeReference<Map<String, List<Post>>>() {});
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<Boolean>> results = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
          int thread = t;
          Callable<Boolean> task =
              () -> {
                start.await(30, TimeUnit.SECONDS);
                for (int i = 0; i < 50; i++) {
                  Map<String, List<Post>> value = new LinkedHashMap<>();
                  value.put(
                      "k" + thread,
                      List.of(
                          new Post(
                              i,
                              "t" + thread,
                              POST.author(),
                              POST.tags(),
                              Visibility.PUBLIC,
                              thread)));
                  if (!roundTrip(codec, value).equals(value)) {
                    return false;
                  }
                }
                return true;
              };
          results.add(pool.submit(task));
        }
        for (Future<Boolean> result : results) {
          assertThat(result.get(30, TimeUnit.SECONDS)).isTrue();
        }
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void encodedBytes_areFreshEachTime() {
    JacksonCodec<Post> codec = JacksonCodec.of(Post.class);
    Supplier<byte[]> encode = () -> codec.encode(POST);

    byte[] first = encode.get();
    first[0] = 'x';

    assertThat(codec.decode(encode.get())).isEqualTo(POST);
  }
}
