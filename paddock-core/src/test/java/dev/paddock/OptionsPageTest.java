/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.paddock.spi.StoreOptions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The table in {@code docs/options.md} says what the code does. */
final class OptionsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "options.md");

  private static final List<Class<?>> OWNERS =
      List.of(CacheBuilder.class, CallOptions.class, Paddock.Builder.class);

  record Row(
      String option, String type, String standard, String range, String meaning, String when) {
    /** The part before the last dot. */
    String owner() {
      return option.substring(0, option.lastIndexOf('.'));
    }

    String method() {
      return option.substring(option.lastIndexOf('.') + 1);
    }
  }

  private static List<Row> rows() throws IOException {
    List<Row> rows = new ArrayList<>();
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("| `")) {
        List<String> cells =
            Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|", -1))
                .map(String::strip)
                .toList();
        assertThat(cells).as(line).hasSize(6);
        rows.add(
            new Row(
                cells.get(0).replace("`", ""),
                cells.get(1),
                cells.get(2),
                cells.get(3),
                cells.get(4),
                cells.get(5)));
      }
    }
    return rows;
  }

  private static String nameOf(Class<?> owner) {
    return owner == Paddock.Builder.class ? "Paddock.Builder" : owner.getSimpleName();
  }

  /** All that return their own type, which is what makes a method an option. */
  private static Stream<Method> options(Class<?> owner) {
    return Arrays.stream(owner.getMethods())
        .filter(method -> method.getReturnType() == owner)
        .filter(method -> !Modifier.isStatic(method.getModifiers()));
  }

  @Test
  void everyOption_hasOneRow_andNoRowNamesAnythingElse() throws IOException {
    List<String> options = new ArrayList<>();
    for (Class<?> owner : OWNERS) {
      options(owner).map(method -> nameOf(owner) + "." + method.getName()).forEach(options::add);
    }

    assertThat(options).hasSizeGreaterThan(30);
    assertThat(rows().stream().map(Row::option))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(new TreeSet<>(options));
  }

  @Test
  void everyRow_saysSomethingInEachColumn() throws IOException {
    for (Row row : rows()) {
      assertThat(row.type()).as(row.option()).isNotEmpty();
      assertThat(row.standard()).as(row.option()).isNotEmpty();
      assertThat(row.meaning()).as(row.option()).endsWith(".");
      assertThat(row.when()).as(row.option()).endsWith(".");
      if (row.type().equals("`Duration`") || row.type().matches("`(int|double|String)`")) {
        assertThat(row.range()).as(row.option()).isNotEmpty();
      }
    }
  }

  @Test
  void types_areThoseOfTheParameters() throws IOException {
    for (Row row : rows()) {
      Class<?> owner = OWNERS.stream().filter(o -> nameOf(o).equals(row.owner())).findAny().get();
      List<String> types =
          options(owner)
              .filter(method -> method.getName().equals(row.method()))
              .map(
                  method ->
                      method.getParameterCount() == 0
                          ? "none"
                          : "`" + method.getParameterTypes()[0].getSimpleName() + "`")
              .toList();
      assertThat(row.type().split(", "))
          .as(row.option())
          .containsExactlyInAnyOrderElementsOf(types);
    }
  }

  @Test
  void defaults_ofACache_areThoseOfItsConfiguration() throws Exception {
    CacheBuilderTest.Opened<Long, String> opened = new CacheBuilderTest.Opened<>();
    CacheConfiguration<Long, String> built = opened.build(builder -> builder);
    int checked = 0;
    for (Row row : rows()) {
      if (row.owner().equals("CacheBuilder")) {
        assertThat(defaultIn(row.standard()))
            .as(row.option())
            .isEqualTo(defaultOf(row.method(), built, opened));
        checked++;
      }
    }
    assertThat(checked).isGreaterThanOrEqualTo(20);
  }

  /** What the table should say, in terms of {@link #defaultIn}. */
  private static Object defaultOf(
      String option,
      CacheConfiguration<Long, String> built,
      CacheBuilderTest.Opened<Long, String> opened)
      throws ReflectiveOperationException {
    return switch (option) {
      case "alwaysFresh" -> built.staleAllowed() ? "off" : "on";
      case "enabled" -> opened.switched.isEmpty() ? "true" : "?";
      case "loader" -> built.loader() == null ? "none" : "?";
      case "keyFormat" ->
          Arrays.equals(built.keyFormat().format(-7L), KeyFormats.standard().format(-7L))
              ? "`KeyFormats.standard()`"
              : "?";
      case "otherwise" -> built.otherwise().equals(Otherwise.fail()) ? "`Otherwise.fail()`" : "?";
      case "earlyRefresh" -> built.earlyRefresh() == 0 ? "0 (never)" : built.earlyRefresh();
      case "earlyRefreshAt" -> built.earlyRefreshAt() == 1 ? "1 (not early)" : "?";
      case "softLoadTimeout" -> built.softLoadTimeout() == null ? "none" : "?";
      case "hardLoadTimeout" -> built.hardLoadTimeout() == null ? "none" : "?";
      case "maxConcurrentLoads" ->
          built.maxConcurrentLoads() == Integer.MAX_VALUE ? "no limit" : "?";
      case "nearMaxEntries", "nearMaxWeight" ->
          built.nearMaximum() == 0 ? "0 (no near cache)" : "?";
      case "tagLag" -> built.tagLag() == null ? "none (no tags)" : "?";
      case "keyPrefix" -> built.keyPrefix().isEmpty() ? "empty" : built.keyPrefix();
      case "compressAbove" ->
          built.compressAbove() == Integer.MAX_VALUE ? "never" : (Object) built.compressAbove();
      default -> {
        Object value = requireNonNull(CacheConfiguration.class.getMethod(option).invoke(built));
        yield value instanceof Boolean || value instanceof Double ? value.toString() : value;
      }
    };
  }

  private static Object defaultIn(String cell) {
    Matcher bytes = Pattern.compile("(\\d+) MiB").matcher(cell);
    if (bytes.matches()) {
      return Integer.parseInt(bytes.group(1)) * 1024 * 1024;
    }
    if (cell.matches("[1-9]\\d*")) {
      return Integer.parseInt(cell);
    }
    Matcher duration = Pattern.compile("(\\d+ (?:ms|s|min|h|days?|years?)|0)(, .*)?").matcher(cell);
    return duration.matches() ? duration(duration.group(1)) : cell;
  }

  private static Duration duration(String text) {
    if (text.equals("0")) {
      return Duration.ZERO;
    }
    String[] parts = text.split(" ", -1);
    long number = Long.parseLong(parts[0]);
    return switch (parts[1]) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "min" -> Duration.ofMinutes(number);
      case "h" -> Duration.ofHours(number);
      case "day", "days" -> Duration.ofDays(number);
      case "year", "years" -> Duration.ofDays(365 * number);
      default -> throw new IllegalArgumentException(text);
    };
  }

  @Test
  void defaults_ofCalls_areThoseOfTheCache() throws IOException {
    CacheConfiguration<Long, String> built =
        new CacheBuilderTest.Opened<Long, String>().build(builder -> builder);
    CallOptions<Long, String> options = CallOptions.of(built);

    for (Row row : rows()) {
      if (row.owner().equals("CallOptions")) {
        assertThat(row.standard())
            .as(row.option())
            .isEqualTo(
                switch (row.method()) {
                  case "maxWait" -> options.maxWait().equals(built.maxWait()) ? "the cache's" : "?";
                  case "otherwise" ->
                      options.otherwise().equals(built.otherwise()) ? "the cache's" : "?";
                  case "allowStale", "alwaysFresh" ->
                      options.isStaleAllowed() == built.staleAllowed() ? "the cache's" : "?";
                  case "timeToLive" -> options.timeToLive() == null ? "the cache's" : "?";
                  case "tags" -> options.tags().isEmpty() ? "none" : "?";
                  case "expectMiss" -> options.isMissExpected() ? "on" : "off";
                  case "bypass" -> options.isBypassed() ? "on" : "off";
                  default -> "a default that this test checks";
                });
      }
    }
  }

  @Test
  void defaults_ofTimeOuts_areThoseThatTheStoreIsGiven() throws IOException {
    List<StoreOptions> given = new ArrayList<>();
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(
            () ->
                Paddock.newBuilder()
                    .store(
                        (environment, options) -> {
                          given.add(options);
                          throw new StoreException("that was all", null, false);
                        })
                    .build());

    for (Row row : rows()) {
      if (row.option().equals("Paddock.Builder.connectTimeout")) {
        assertThat(duration(row.standard())).isEqualTo(given.get(0).connectTimeout());
      }
      if (row.option().equals("Paddock.Builder.commandTimeout")) {
        assertThat(duration(row.standard())).isEqualTo(given.get(0).commandTimeout());
      }
    }
  }

  static Stream<Row> durations() throws IOException {
    return rows().stream().filter(row -> row.type().equals("`Duration`"));
  }

  @ParameterizedTest
  @MethodSource("durations")
  void ranges_ofDurations_areThoseThatAreAccepted(Row row) {
    Matcher range = Pattern.compile("(.+) to (.+)").matcher(row.range());
    assertThat(range.matches()).as(row.option()).isTrue();
    Duration min = duration(range.group(1));
    Duration max = duration(range.group(2));

    assertThatCode(() -> set(row, min)).doesNotThrowAnyException();
    assertThatCode(() -> set(row, max)).doesNotThrowAnyException();
    assertThatIllegalArgumentException().isThrownBy(() -> set(row, min.minusNanos(1)));
    assertThatIllegalArgumentException().isThrownBy(() -> set(row, max.plusNanos(1)));
  }

  private static void set(Row row, Duration value) throws Throwable {
    CacheBuilderTest.Opened<Long, String> opened = new CacheBuilderTest.Opened<>();
    Object target =
        switch (row.owner()) {
          case "CacheBuilder" -> opened.builder();
          case "CallOptions" -> CallOptions.of(opened.build(builder -> builder));
          default -> Paddock.newBuilder();
        };
    try {
      target.getClass().getMethod(row.method(), Duration.class).invoke(target, value);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void ranges_ofNumbers_areThoseThatAreAccepted() throws IOException {
    CacheBuilderTest.Opened<Long, String> opened = new CacheBuilderTest.Opened<>();
    List<Row> rows = rows();
    assertThat(rangeOf(rows, "jitter")).isEqualTo("0 to 0.5");
    assertThat(opened.build(b -> b.jitter(0.5)).jitter()).isEqualTo(0.5);
    assertThatIllegalArgumentException().isThrownBy(() -> opened.builder().jitter(0.501));
    assertThat(rangeOf(rows, "earlyRefresh")).isEqualTo("0 to 10");
    assertThat(opened.build(b -> b.earlyRefresh(10)).earlyRefresh()).isEqualTo(10);
    assertThat(rangeOf(rows, "earlyRefreshAt")).isEqualTo("above 0 to 1");
    assertThat(opened.build(b -> b.earlyRefreshAt(0.001)).earlyRefreshAt()).isEqualTo(0.001);
    assertThat(rangeOf(rows, "keyPrefix")).isEqualTo("0 to 200 characters");
    assertThat(opened.build(b -> b.keyPrefix("x".repeat(200))).keyPrefix()).hasSize(200);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> opened.builder().keyPrefix("x".repeat(201)));
    assertThat(rangeOf(rows, "maxConcurrentLoads")).isEqualTo("1 or more");
    assertThat(opened.build(b -> b.maxConcurrentLoads(1)).maxConcurrentLoads()).isEqualTo(1);
    assertThatIllegalArgumentException().isThrownBy(() -> opened.builder().maxConcurrentLoads(0));
    assertThat(rangeOf(rows, "maxQueuedLoads")).isEqualTo("0 or more");
    assertThat(opened.build(b -> b.maxQueuedLoads(0)).maxQueuedLoads()).isZero();
    assertThatIllegalArgumentException().isThrownBy(() -> opened.builder().maxQueuedLoads(-1));
    assertThat(rangeOf(rows, "maxBulkSize")).isEqualTo("1 to 5,000 keys");
    for (String option : List.of("compressAbove", "maxValueBytes")) {
      assertThat(rangeOf(rows, option)).isEqualTo("0 bytes or more");
    }
    assertThat(opened.build(b -> b.compressAbove(0).maxValueBytes(0)).compressAbove()).isZero();
  }

  private static String rangeOf(List<Row> rows, String option) {
    return rows.stream()
        .filter(row -> row.option().equals("CacheBuilder." + option))
        .findAny()
        .get()
        .range();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1 ms", "100 ms", "10 s", "5 min", "1 h", "1 day", "10 years"})
  void parser_ofDurations_readsItsUnits(String text) {
    assertThat(defaultIn(text)).isEqualTo(duration(text));
    assertThat(duration("10 s")).hasSeconds(10);
    assertThat(duration("10 years")).hasDays(3650);
    assertThat(defaultIn("30 s, or less")).isEqualTo(Duration.ofSeconds(30));
    assertThat(defaultIn("30 seconds")).isEqualTo("30 seconds");
  }
}
