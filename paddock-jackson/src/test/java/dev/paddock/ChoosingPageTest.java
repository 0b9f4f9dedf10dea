/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.paddock.jackson.JacksonCodec;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;

/**
 * The examples of {@code docs/choosing.md}: they compile, their options do not contradict each
 * other, and the page shows them as they are here. It is in this package because only its builder
 * can be made without a store.
 */
final class ChoosingPageTest {
  private static final Path PAGE = Path.of("..", "docs", "choosing.md");
  private static final Path SELF =
      Path.of("src", "test", "java", "dev", "paddock", "ChoosingPageTest.java");

  record Leaderboard(List<String> names) {
    static final Leaderboard EMPTY = new Leaderboard(List.of());
  }

  record Product(long id, String name, String description) {}

  record Rate(BigDecimal value, Duration validFor) {}

  record Report(YearMonth month, List<BigDecimal> lines) {}

  enum Permission {
    READ,
    WRITE
  }

  /** The sources of truth of the examples. */
  interface Source {
    Leaderboard top(String region);

    @Nullable Product find(long id);

    void update(Product product);

    int count(long id);

    Set<Permission> granted(String user);

    void grant(String user, Permission permission);

    Rate fetch(String pair);

    boolean isOn(String flag);

    void switchOn(String flag);

    Report compute(YearMonth month);
  }

  /** Makes builders as a Paddock does, and keeps what they build. */
  private static final class Builders {
    final List<CacheConfiguration<?, ?>> built = new ArrayList<>();

    <K, V> CacheBuilder<K, V> cache(String name, Codec<V> codec) {
      return new CacheBuilder<>(name, codec, this::open);
    }

    // The proxy answers to what the examples call, whatever the types.
    @SuppressWarnings("unchecked")
    private <K, V> Cache<K, V> open(CacheConfiguration<K, V> configuration) {
      built.add(configuration);
      CallOptions<K, V> options = CallOptions.of(configuration);
      return (Cache<K, V>)
          Proxy.newProxyInstance(
              Cache.class.getClassLoader(),
              new Class<?>[] {Cache.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "options" -> options;
                    case "getAsync" -> CompletableFuture.completedFuture(null);
                    default -> null;
                  });
    }
  }

  private final Builders paddock = new Builders();

  private final Source ranking = source();
  private final Source products = source();
  private final Source stock = source();
  private final Source users = source();
  private final Source bank = source();
  private final Source flags = source();
  private final Source warehouse = source();

  private static Source source() {
    return (Source)
        Proxy.newProxyInstance(
            Source.class.getClassLoader(),
            new Class<?>[] {Source.class},
            (proxy, method, arguments) -> null);
  }

  private CacheConfiguration<?, ?> last() {
    return paddock.built.get(paddock.built.size() - 1);
  }

  @Test
  void leaderboard_isServedStale() {
    // [leaderboard]
    Cache<String, Leaderboard> leaderboards =
        paddock
            .cache("leaderboards", JacksonCodec.of(Leaderboard.class))
            .timeToLive(Duration.ofSeconds(30))
            .serveStaleFor(Duration.ofMinutes(10))
            .maxWait(Duration.ofSeconds(1))
            .otherwise(Otherwise.fallback(region -> Leaderboard.EMPTY))
            .loader(ranking::top)
            .build();
    // [end]
    assertThat(leaderboards.options().isStaleAllowed()).isTrue();
    assertThat(last().serveStaleFor()).isGreaterThan(last().timeToLive());
  }

  @Test
  void product_isInvalidatedAfterTheWrite() {
    Product product = new Product(1, "bolt", "");
    // [product]
    Cache<Long, Product> pages =
        paddock
            .cache("products", JacksonCodec.of(Product.class))
            .timeToLive(Duration.ofMinutes(30))
            .serveStaleFor(Duration.ofDays(1))
            .negativeTimeToLive(Duration.ofMinutes(1))
            .holdOff(Duration.ofSeconds(2))
            .compressAbove(10 * 1024)
            .loader(products::find)
            .build();

    products.update(product); // commits
    pages.invalidate(product.id());
    // [end]
    assertThat(last().holdOff()).isPositive();
  }

  @Test
  void stock_isNeverStale() {
    // [stock]
    Cache<Long, Integer> shown =
        paddock
            .cache("stock", JacksonCodec.of(Integer.class))
            .timeToLive(Duration.ofSeconds(2))
            .maxWait(Duration.ofMillis(300))
            .coolDown(Duration.ofMillis(200))
            .otherwise(Otherwise.loadDegraded())
            .loader(stock::count)
            .build();

    CallOptions<Long, Integer> atCheckout = shown.options().bypass();
    // [end]
    assertThat(atCheckout.isBypassed()).isTrue();
    assertThat(last().serveStaleFor()).isZero();
  }

  @Test
  void permissions_areNeverStale_andFail() {
    // [permissions]
    Cache<String, Set<Permission>> permissions =
        paddock
            .cache("permissions", JacksonCodec.of(new TypeReference<Set<Permission>>() {}))
            .timeToLive(Duration.ofMinutes(1))
            .negativeTimeToLive(Duration.ZERO)
            .maxWait(Duration.ofSeconds(1))
            .holdOff(Duration.ofSeconds(2))
            .loader(users::granted)
            .build();

    users.grant("ann", Permission.WRITE); // commits
    permissions.invalidate("ann");
    // [end]
    assertThat(last().serveStaleFor()).isZero();
    assertThat(last().otherwise()).isEqualTo(Otherwise.fail());
  }

  @Test
  void rate_isStaleForDisplay_andFreshForABooking() {
    // [rate]
    Cache<String, Rate> rates =
        paddock
            .cache("rates", JacksonCodec.of(Rate.class))
            .timeToLive(Duration.ofMinutes(1))
            .serveStaleFor(Duration.ofMinutes(15))
            .jitter(0)
            .coolDown(Duration.ofSeconds(10))
            .loader(
                (String pair, LoadContext<String, Rate> context) -> {
                  Rate rate = bank.fetch(pair);
                  context.timeToLive(rate.validFor());
                  return rate;
                })
            .build();

    CallOptions<String, Rate> forABooking =
        rates.options().alwaysFresh().maxWait(Duration.ofSeconds(3));
    // [end]
    assertThat(forABooking.isStaleAllowed()).isFalse();
    assertThat(rates.options().isStaleAllowed()).isTrue();
  }

  @Test
  void flag_neverWaitsLong() {
    // [flag]
    Cache<String, Boolean> switches =
        paddock
            .cache("flags", JacksonCodec.of(Boolean.class))
            .timeToLive(Duration.ofSeconds(10))
            .serveStaleFor(Duration.ofHours(6))
            .maxWait(Duration.ofMillis(50))
            .otherwise(Otherwise.fallback(flag -> false))
            .loader(flags::isOn)
            .build();

    flags.switchOn("new-checkout");
    switches.invalidate("new-checkout");
    // [end]
    assertThat(last().maxWait()).isLessThan(Duration.ofMillis(100));
  }

  @Test
  void report_hasAShortLeaseAndALongLoad() {
    YearMonth month = YearMonth.of(2026, 1);
    // [report]
    Cache<YearMonth, Report> reports =
        paddock
            .cache("reports", JacksonCodec.of(Report.class))
            .keyFormat((YearMonth m) -> KeyFormats.utf8(m.toString()))
            .timeToLive(Duration.ofHours(1))
            .serveStaleFor(Duration.ofDays(7))
            .leaseTime(Duration.ofSeconds(30))
            .maxLoadTime(Duration.ofMinutes(10))
            .coolDown(Duration.ofMinutes(1))
            .maxWait(Duration.ZERO)
            .compressAbove(10 * 1024)
            .loader(warehouse::compute)
            .build();

    CompletableFuture<@Nullable Report> report = reports.getAsync(month);
    // [end]
    assertThat(report).isDone();
    assertThat(last().leaseTime()).isLessThan(last().maxLoadTime());
  }

  private static List<String> examples() throws IOException {
    Matcher region =
        Pattern.compile("( +)// \\[(?!end)\\w+]\n(.*?) +// \\[end]\n", Pattern.DOTALL)
            .matcher(Files.readString(SELF));
    List<String> examples = new ArrayList<>();
    while (region.find()) {
      examples.add(region.group(2).replaceAll("(?m)^" + region.group(1), ""));
    }
    return examples;
  }

  @Test
  void page_showsTheseExamples() throws IOException {
    Matcher block =
        Pattern.compile("```java\n(.*?)```\n", Pattern.DOTALL).matcher(Files.readString(PAGE));
    List<String> shown = new ArrayList<>();
    while (block.find()) {
      shown.add(block.group(1));
    }

    assertThat(examples()).hasSize(7);
    assertThat(shown).containsExactlyElementsOf(examples());
  }

  @Test
  void page_linksToAnchorsThatExist() throws IOException {
    String page = Files.readString(PAGE);
    String options = Files.readString(Path.of("..", "docs", "options.md"));
    Matcher link = Pattern.compile("\\]\\((?:choosing\\.md)?#([\\w-]+)\\)").matcher(page + options);
    int links = 0;
    while (link.find()) {
      assertThat(page.lines().filter(line -> line.startsWith("#")).map(ChoosingPageTest::anchor))
          .contains(link.group(1));
      links++;
    }
    assertThat(links).isPositive();
  }

  private static String anchor(String heading) {
    return heading
        .replaceFirst("#+ ", "")
        .toLowerCase(java.util.Locale.ROOT)
        .replaceAll("[^\\w -]", "")
        .replace(' ', '-');
  }
}
