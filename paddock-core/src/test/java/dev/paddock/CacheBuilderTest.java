/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class CacheBuilderTest {

  /** Takes the configuration where an engine would open a cache. */
  static final class Opened<K, V> implements Function<CacheConfiguration<K, V>, Cache<K, V>> {
    final List<CacheConfiguration<K, V>> configurations = new ArrayList<>();
    final List<Boolean> switched = new ArrayList<>();

    CacheBuilder<K, V> builder() {
      return new CacheBuilder<>("name", new NoCodec<>(), this);
    }

    CacheConfiguration<K, V> build(UnaryOperator<CacheBuilder<K, V>> options) {
      options.apply(builder()).build();
      return configurations.get(configurations.size() - 1);
    }

    @Override
    // The proxy answers to the one method that the builder calls, whatever the types.
    @SuppressWarnings("unchecked")
    public Cache<K, V> apply(CacheConfiguration<K, V> configuration) {
      configurations.add(configuration);
      return (Cache<K, V>)
          Proxy.newProxyInstance(
              Cache.class.getClassLoader(),
              new Class<?>[] {Cache.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("setEnabled")) {
                  switched.add((Boolean) arguments[0]);
                  return null;
                }
                throw new UnsupportedOperationException(method.toString());
              });
    }
  }

  private static final class NoCodec<V> implements Codec<V> {
    @Override
    public byte[] encode(V value) {
      throw new UnsupportedOperationException();
    }

    @Override
    public V decode(byte[] payload) {
      throw new UnsupportedOperationException();
    }
  }

  private static final Duration MS = Duration.ofMillis(1);
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration TEN_YEARS = Duration.ofDays(3650);

  private final Opened<Long, String> opened = new Opened<>();

  private CacheBuilder<Long, String> builder() {
    return opened.builder();
  }

  private CacheConfiguration<Long, String> build(
      UnaryOperator<CacheBuilder<Long, String>> options) {
    return opened.build(options);
  }

  // --- options that are durations

  // The functions are method references, which have no state.
  @SuppressWarnings("ImmutableEnumChecker")
  enum DurationOption {
    TIME_TO_LIVE(
        "timeToLive",
        CacheBuilder::timeToLive,
        CacheConfiguration::timeToLive,
        MS,
        TEN_YEARS,
        Duration.ofMinutes(5)),
    SERVE_STALE_FOR(
        "serveStaleFor",
        CacheBuilder::serveStaleFor,
        CacheConfiguration::serveStaleFor,
        Duration.ZERO,
        TEN_YEARS,
        Duration.ZERO),
    FAIL_SAFE_FOR(
        "failSafeFor",
        CacheBuilder::failSafeFor,
        CacheConfiguration::failSafeFor,
        Duration.ZERO,
        TEN_YEARS,
        Duration.ZERO),
    NEGATIVE_TIME_TO_LIVE(
        "negativeTimeToLive",
        CacheBuilder::negativeTimeToLive,
        CacheConfiguration::negativeTimeToLive,
        Duration.ZERO,
        TEN_YEARS,
        Duration.ofSeconds(30)),
    MAX_WAIT(
        "maxWait",
        CacheBuilder::maxWait,
        CacheConfiguration::maxWait,
        Duration.ZERO,
        DAY,
        Duration.ofSeconds(5)),
    LEASE_TIME(
        "leaseTime",
        CacheBuilder::leaseTime,
        CacheConfiguration::leaseTime,
        MS,
        DAY,
        Duration.ofSeconds(10)),
    LEASE_FLOOR(
        "leaseFloor",
        CacheBuilder::leaseFloor,
        CacheConfiguration::leaseFloor,
        MS,
        DAY,
        Duration.ofSeconds(1)),
    LEASE_CAP(
        "leaseCap",
        CacheBuilder::leaseCap,
        CacheConfiguration::leaseCap,
        MS,
        DAY,
        Duration.ofMinutes(5)),
    MAX_LOAD_TIME(
        "maxLoadTime",
        CacheBuilder::maxLoadTime,
        CacheConfiguration::maxLoadTime,
        MS,
        DAY,
        Duration.ofSeconds(30)),
    COOL_DOWN(
        "coolDown",
        CacheBuilder::coolDown,
        CacheConfiguration::coolDown,
        Duration.ZERO,
        DAY,
        Duration.ofSeconds(1)),
    OUTAGE_TIME_TO_LIVE(
        "outageTimeToLive",
        CacheBuilder::outageTimeToLive,
        CacheConfiguration::outageTimeToLive,
        Duration.ZERO,
        DAY,
        Duration.ofSeconds(5)),
    HOLD_OFF(
        "holdOff",
        CacheBuilder::holdOff,
        CacheConfiguration::holdOff,
        Duration.ZERO,
        DAY,
        Duration.ZERO);

    private final String option;
    private final BiFunction<CacheBuilder<Long, String>, Duration, CacheBuilder<Long, String>> set;
    private final Function<CacheConfiguration<Long, String>, Duration> get;
    private final Duration min;
    private final Duration max;
    private final Duration standard;

    DurationOption(
        String option,
        BiFunction<CacheBuilder<Long, String>, Duration, CacheBuilder<Long, String>> set,
        Function<CacheConfiguration<Long, String>, Duration> get,
        Duration min,
        Duration max,
        Duration standard) {
      this.option = option;
      this.set = set;
      this.get = get;
      this.min = min;
      this.max = max;
      this.standard = standard;
    }

    /** Sets the option, and floor and cap of the lease so that they do not contradict it. */
    CacheBuilder<Long, String> setAlone(CacheBuilder<Long, String> builder, Duration value) {
      if (this != LEASE_FLOOR && option.startsWith("lease")) {
        builder.leaseFloor(MS);
      }
      if (this != LEASE_CAP && option.startsWith("lease")) {
        builder.leaseCap(DAY);
      }
      return set.apply(builder, value);
    }
  }

  @ParameterizedTest
  @EnumSource
  void duration_unlessSet_hasItsDefault(DurationOption option) {
    assertThat(option.get.apply(build(builder -> builder))).isEqualTo(option.standard);
  }

  @ParameterizedTest
  @EnumSource
  void duration_atItsEdges_isAccepted(DurationOption option) {
    for (Duration edge : List.of(option.min, option.max, MS.multipliedBy(2))) {
      assertThat(option.get.apply(build(builder -> option.setAlone(builder, edge))))
          .isEqualTo(edge);
    }
  }

  @ParameterizedTest
  @EnumSource
  void duration_beyondItsEdges_isRefused_namingOptionAndValue(DurationOption option) {
    for (Duration beyond :
        List.of(
            option.min.minusNanos(1),
            option.max.plusNanos(1),
            Duration.ofMillis(-1),
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE, 999_999_999))) {
      CacheBuilder<Long, String> builder = builder();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> option.set.apply(builder, beyond))
          .withMessageContaining(option.option)
          .withMessageContaining(beyond.toString())
          .withMessageContaining(option.min.toString())
          .withMessageContaining(option.max.toString());

      // What was refused counts as not set.
      assertThat(option.set.apply(builder, option.standard)).isSameAs(builder);
    }
  }

  @ParameterizedTest
  @EnumSource
  void duration_setTwice_isRefused_namingBothValues(DurationOption option) {
    Duration first = Duration.ofSeconds(77);
    Duration second = Duration.ofSeconds(78);
    CacheBuilder<Long, String> builder = option.setAlone(builder(), first);

    assertThatIllegalStateException()
        .isThrownBy(() -> option.set.apply(builder, second))
        .withMessageContaining(option.option)
        .withMessageContaining(first.toString())
        .withMessageContaining(second.toString());
    assertThatIllegalStateException().isThrownBy(() -> option.set.apply(builder, first));

    builder.build();
    assertThat(option.get.apply(opened.configurations.get(0))).isEqualTo(first);
  }

  @ParameterizedTest
  @EnumSource
  @SuppressWarnings("NullAway") // What a caller without null checks may do.
  void duration_null_isRefused_namingTheOption(DurationOption option) {
    assertThatNullPointerException()
        .isThrownBy(() -> option.set.apply(builder(), null))
        .withMessageContaining(option.option);
  }

  // --- the other options

  @Test
  void others_unlessSet_haveTheirDefaults() {
    CacheConfiguration<Long, String> built = build(builder -> builder);

    assertThat(built.name()).isEqualTo("name");
    assertThat(built.codec()).isInstanceOf(NoCodec.class);
    assertThat(built.keyFormat().format(12L)).asString().isEqualTo("12");
    assertThat(built.loader()).isNull();
    assertThat(built.staleAllowed()).isTrue();
    assertThat(built.jitter()).isEqualTo(0.1);
    assertThat(built.otherwise()).isEqualTo(Otherwise.fail());
    assertThat(built.renewal()).isTrue();
    assertThat(built.keyPrefix()).isEmpty();
    assertThat(built.compressAbove()).isEqualTo(Integer.MAX_VALUE);
    assertThat(built.maxValueBytes()).isEqualTo(16 * 1024 * 1024);
    assertThat(built.maxBulkSize()).isEqualTo(500);
    assertThat(built.nearMaximum()).isZero();
    assertThat(built.nearWeigher()).isNull();
    assertThat(built.tagLag()).isNull();
    assertThat(opened.switched).isEmpty();
  }

  @Test
  void negativeTimeToLive_byDefault_isNoLongerThanTheTimeToLive() {
    assertThat(build(b -> b.timeToLive(Duration.ofSeconds(29))).negativeTimeToLive())
        .isEqualTo(Duration.ofSeconds(29));
    assertThat(build(b -> b.timeToLive(Duration.ofSeconds(31))).negativeTimeToLive())
        .isEqualTo(Duration.ofSeconds(30));
    assertThat(
            build(b -> b.timeToLive(MS).negativeTimeToLive(Duration.ofDays(1)))
                .negativeTimeToLive())
        .isEqualTo(Duration.ofDays(1));
  }

  @Test
  void keyFormat_set_isUsed() {
    KeyFormat<Object> format = key -> new byte[] {1};

    assertThat(build(builder -> builder.keyFormat(format)).keyFormat()).isSameAs(format);
  }

  @Test
  void loader_ofEitherKind_isUsed() throws Exception {
    Loader<Long, String> loader = (key, context) -> "full";

    assertThat(build(builder -> builder.loader(loader)).loader()).isSameAs(loader);
    Loader<Long, String> made = build(builder -> builder.loader(key -> "k" + key)).loader();
    assertThat(load(requireNonNull(made))).isEqualTo("k3");
  }

  @SuppressWarnings("NullAway") // The loader made of a function does not look at the context.
  private static @Nullable String load(Loader<Long, String> loader) throws Exception {
    return loader.load(3L, null);
  }

  @Test
  void otherwise_set_isUsed() {
    Otherwise<Long, String> choice = Otherwise.loadDegraded();

    assertThat(build(builder -> builder.otherwise(choice)).otherwise()).isSameAs(choice);
  }

  @Test
  void alwaysFresh_allowsNoStaleValue() {
    assertThat(build(CacheBuilder::alwaysFresh).staleAllowed()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void booleans_areTaken(boolean value) {
    assertThat(build(builder -> builder.renewal(value).enabled(value)).renewal()).isEqualTo(value);
    assertThat(opened.switched).containsExactly(value);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.0, 0.5, 0.25, Double.MIN_VALUE})
  void jitter_inRange_isAccepted(double jitter) {
    assertThat(build(builder -> builder.jitter(jitter)).jitter()).isEqualTo(jitter);
  }

  @ParameterizedTest
  @ValueSource(
      doubles = {
        -Double.MIN_VALUE,
        0.5000000000000001,
        1,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY
      })
  void jitter_outOfRange_isRefused(double jitter) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().jitter(jitter))
        .withMessageContaining("jitter")
        .withMessageContaining(Double.toString(jitter));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, Integer.MAX_VALUE})
  void bytes_inRange_areAccepted(int bytes) {
    CacheConfiguration<Long, String> built =
        build(builder -> builder.compressAbove(bytes).maxValueBytes(bytes));

    assertThat(built.compressAbove()).isEqualTo(bytes);
    assertThat(built.maxValueBytes()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE})
  void bytes_negative_areRefused(int bytes) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().compressAbove(bytes))
        .withMessageContaining("compressAbove")
        .withMessageContaining(Integer.toString(bytes));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().maxValueBytes(bytes))
        .withMessageContaining("maxValueBytes")
        .withMessageContaining(Integer.toString(bytes));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5_000})
  void maxBulkSize_inRange_isAccepted(int keys) {
    assertThat(build(builder -> builder.maxBulkSize(keys)).maxBulkSize()).isEqualTo(keys);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 5_001})
  void maxBulkSize_outOfRange_isRefused(int keys) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().maxBulkSize(keys))
        .withMessageContaining("maxBulkSize")
        .withMessageContaining(Integer.toString(keys));
  }

  @Test
  void keyPrefix_inRange_isAccepted() {
    for (String prefix : List.of("", "app:", "{tag}", "ü\uD83D\uDC18", "x".repeat(200))) {
      assertThat(build(builder -> builder.keyPrefix(prefix)).keyPrefix()).isEqualTo(prefix);
    }
  }

  @Test
  void keyPrefix_tooLong_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().keyPrefix("x".repeat(201)))
        .withMessageContaining("keyPrefix")
        .withMessageContaining("200")
        .withMessageContaining("201");
  }

  @Test
  void keyPrefix_withAnUnpairedSurrogate_isRefused_namingTheOption() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().keyPrefix("a\uD800"))
        .withMessageContaining("keyPrefix")
        .withMessageContaining("surrogate");
  }

  /** Every option that is no duration, set twice. */
  // The functions have no state.
  @SuppressWarnings("ImmutableEnumChecker")
  enum SetTwice {
    LOADER("loader", b -> b.loader((k, c) -> ""), b -> b.loader(k -> ""), "Lambda"),
    KEY_FORMAT(
        "keyFormat",
        b -> b.keyFormat(KeyFormats.standard()),
        b -> b.keyFormat(k -> new byte[0]),
        "Lambda"),
    OTHERWISE(
        "otherwise",
        b -> b.otherwise(Otherwise.loadDegraded()),
        b -> b.otherwise(Otherwise.fail()),
        "LoadDegraded"),
    ALWAYS_FRESH("alwaysFresh", CacheBuilder::alwaysFresh, CacheBuilder::alwaysFresh, "true"),
    ENABLED("enabled", b -> b.enabled(false), b -> b.enabled(true), "false"),
    RENEWAL("renewal", b -> b.renewal(false), b -> b.renewal(false), "false"),
    SOFT_LOAD_TIMEOUT(
        "softLoadTimeout",
        b -> b.softLoadTimeout(Duration.ofSeconds(7)),
        b -> b.softLoadTimeout(Duration.ofSeconds(7)),
        "PT7S"),
    HARD_LOAD_TIMEOUT(
        "hardLoadTimeout",
        b -> b.hardLoadTimeout(Duration.ofSeconds(7)),
        b -> b.hardLoadTimeout(Duration.ofSeconds(8)),
        "PT7S"),
    EARLY_REFRESH("earlyRefresh", b -> b.earlyRefresh(1), b -> b.earlyRefresh(2), "1.0"),
    EARLY_REFRESH_AT(
        "earlyRefreshAt", b -> b.earlyRefreshAt(0.8), b -> b.earlyRefreshAt(0.9), "0.8"),
    JITTER("jitter", b -> b.jitter(0.25), b -> b.jitter(0.3), "0.25"),
    MAX_CONCURRENT_LOADS(
        "maxConcurrentLoads", b -> b.maxConcurrentLoads(7), b -> b.maxConcurrentLoads(7), "7"),
    MAX_QUEUED_LOADS("maxQueuedLoads", b -> b.maxQueuedLoads(7), b -> b.maxQueuedLoads(8), "7"),
    KEY_PREFIX("keyPrefix", b -> b.keyPrefix("one:"), b -> b.keyPrefix("two:"), "one:"),
    COMPRESS_ABOVE("compressAbove", b -> b.compressAbove(77), b -> b.compressAbove(78), "77"),
    MAX_VALUE_BYTES("maxValueBytes", b -> b.maxValueBytes(77), b -> b.maxValueBytes(78), "77"),
    NEAR_MAX_ENTRIES("nearMaxEntries", b -> b.nearMaxEntries(77), b -> b.nearMaxEntries(78), "77"),
    NEAR_MAX_WEIGHT(
        "nearMaxWeight",
        b -> b.nearMaxWeight(77, (k, v) -> 1),
        b -> b.nearMaxWeight(78, (k, v) -> 1),
        "77"),
    NEAR_TIME_TO_LIVE(
        "nearTimeToLive",
        b -> b.nearTimeToLive(Duration.ofSeconds(7)),
        b -> b.nearTimeToLive(Duration.ofSeconds(8)),
        "PT7S"),
    TAG_LAG("tagLag", b -> b.tagLag(Duration.ZERO), b -> b.tagLag(Duration.ZERO), "PT0S"),
    TAG_SKEW(
        "tagSkew",
        b -> b.tagSkew(Duration.ofSeconds(7)),
        b -> b.tagSkew(Duration.ofSeconds(8)),
        "PT7S"),
    MAX_BULK_SIZE("maxBulkSize", b -> b.maxBulkSize(77), b -> b.maxBulkSize(78), "77");

    private final String option;
    private final UnaryOperator<CacheBuilder<Long, String>> first;
    private final UnaryOperator<CacheBuilder<Long, String>> second;
    private final String before;

    SetTwice(
        String option,
        UnaryOperator<CacheBuilder<Long, String>> first,
        UnaryOperator<CacheBuilder<Long, String>> second,
        String before) {
      this.option = option;
      this.first = first;
      this.second = second;
      this.before = before;
    }
  }

  @ParameterizedTest
  @EnumSource
  void option_setTwice_isRefused_namingTheOldValue(SetTwice option) {
    CacheBuilder<Long, String> builder = option.first.apply(builder());

    assertThatIllegalStateException()
        .isThrownBy(() -> option.second.apply(builder))
        .withMessageContaining(option.option)
        .withMessageMatching("(?s).*was set to .*" + option.before + ".* before.*");
  }

  @SuppressWarnings("NullAway") // What a caller without null checks may do.
  @Test
  void others_null_areRefused() {
    assertThatNullPointerException()
        .isThrownBy(() -> builder().loader((Loader<Long, String>) null));
    assertThatNullPointerException()
        .isThrownBy(() -> builder().loader((KeyLoader<Long, String>) null));
    assertThatNullPointerException().isThrownBy(() -> builder().keyFormat(null));
    assertThatNullPointerException().isThrownBy(() -> builder().otherwise(null));
    assertThatNullPointerException()
        .isThrownBy(() -> builder().keyPrefix(null))
        .withMessageContaining("prefix");
  }

  // --- pairs

  private void assertContradiction(
      UnaryOperator<CacheBuilder<Long, String>> options, String... parts) {
    CacheBuilder<Long, String> builder = options.apply(builder());
    assertThatIllegalStateException()
        .isThrownBy(builder::build)
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
    assertThat(opened.configurations).isEmpty();
  }

  @Test
  void nearCacheAndTags_outOfRange_areRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().nearMaxEntries(0))
        .withMessageContaining("nearMaxEntries");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().nearMaxWeight(0, (k, v) -> 1))
        .withMessageContaining("nearMaxWeight");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().nearTimeToLive(Duration.ZERO))
        .withMessageContaining("nearTimeToLive");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().tagLag(Duration.ofMinutes(61)))
        .withMessageContaining("tagLag");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().tagSkew(Duration.ofMillis(-1)))
        .withMessageContaining("tagSkew");
  }

  @Test
  void nearCacheAndTags_thatContradictEachOther_areRefused() {
    assertContradiction(
        b -> b.nearMaxEntries(5).nearMaxWeight(6, (k, v) -> 1),
        "nearMaxEntries 5",
        "nearMaxWeight 6");
    assertContradiction(
        b -> b.nearTimeToLive(Duration.ofSeconds(1)), "nearTimeToLive PT1S", "nearMaxEntries");
    assertContradiction(b -> b.nearMaxEntries(5).tagLag(Duration.ZERO), "tagLag 0", "near cache");
    assertContradiction(b -> b.nearMaxEntries(5).alwaysFresh(), "alwaysFresh", "near cache");
    assertContradiction(b -> b.tagSkew(Duration.ZERO), "tagSkew PT0S", "tagLag");
  }

  @Test
  void leaseFloor_aboveLeaseCap_isRefused() {
    assertContradiction(
        b -> b.leaseFloor(Duration.ofSeconds(3)).leaseCap(Duration.ofSeconds(2)),
        "leaseFloor PT3S",
        "leaseCap PT2S");
  }

  @Test
  void leaseFloor_aboveTheDefaultCap_isRefused() {
    assertContradiction(
        b -> b.leaseFloor(Duration.ofMinutes(6)), "leaseFloor PT6M", "leaseCap PT5M");
  }

  @Test
  void leaseCap_belowTheDefaultFloor_lowersItUnlessTheLeaseIsFixed() {
    Duration cap = Duration.ofMillis(99);
    assertThat(build(b -> b.leaseCap(cap)).leaseFloor()).isEqualTo(cap);
    assertThat(build(b -> b.leaseCap(cap)).leaseTime()).isEqualTo(cap);
    opened.configurations.clear();
    assertContradiction(
        b -> b.leaseCap(cap).leaseTime(cap), "leaseFloor PT0.1S", "leaseCap PT0.099S");
  }

  @Test
  void lease_isMeasuredUnlessItsLengthIsSet() {
    assertThat(build(b -> b).leaseMeasured()).isTrue();
    assertThat(build(b -> b.leaseTime(Duration.ofSeconds(10))).leaseMeasured()).isFalse();
    assertThat(build(b -> b.leaseTime(Duration.ofSeconds(10))).leaseFloor())
        .isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void softLoadTimeout_needsSomethingStale_andExcludesAlwaysFresh() {
    Duration soft = Duration.ofMillis(100);
    assertContradiction(b -> b.softLoadTimeout(soft), "softLoadTimeout PT0.1S", "failSafeFor");
    assertContradiction(
        b -> b.softLoadTimeout(soft).serveStaleFor(DAY).alwaysFresh(),
        "softLoadTimeout PT0.1S",
        "alwaysFresh");
    assertThat(build(b -> b.softLoadTimeout(soft).failSafeFor(DAY)).softLoadTimeout())
        .isEqualTo(soft);
    assertThat(build(b -> b.softLoadTimeout(soft).serveStaleFor(DAY)).softLoadTimeout())
        .isEqualTo(soft);
    assertThat(build(b -> b).softLoadTimeout()).isNull();
  }

  @Test
  void hardLoadTimeout_belowTheSoftOne_orAboveMaxLoadTime_isRefused() {
    Duration two = Duration.ofSeconds(2);
    assertContradiction(
        b -> b.failSafeFor(DAY).softLoadTimeout(two).hardLoadTimeout(two.minusNanos(1)),
        "softLoadTimeout PT2S",
        "hardLoadTimeout PT1.999999999S");
    assertContradiction(
        b -> b.maxLoadTime(two).hardLoadTimeout(two.plusNanos(1)),
        "hardLoadTimeout PT2.000000001S",
        "maxLoadTime PT2S");
    assertThat(build(b -> b.maxLoadTime(two).hardLoadTimeout(two)).hardLoadTimeout())
        .isEqualTo(two);
    assertThat(build(b -> b).hardLoadTimeout()).isNull();
  }

  @Test
  void earlyRefresh_outOfRange_orInTwoWays_isRefused() {
    for (double beta : new double[] {-0.1, 10.1, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> builder().earlyRefresh(beta))
          .withMessageContaining("earlyRefresh")
          .withMessageContaining(Double.toString(beta));
    }
    for (double part : new double[] {0, 1.1, Double.NaN}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> builder().earlyRefreshAt(part))
          .withMessageContaining("earlyRefreshAt")
          .withMessageContaining(Double.toString(part));
    }
    assertContradiction(
        b -> b.earlyRefresh(1).earlyRefreshAt(0.8), "earlyRefresh 1.0", "earlyRefreshAt 0.8");
    assertThat(build(b -> b.earlyRefresh(0).earlyRefreshAt(0.8)).earlyRefreshAt()).isEqualTo(0.8);
    assertThat(build(b -> b.earlyRefresh(10).earlyRefreshAt(1)).earlyRefresh()).isEqualTo(10);
  }

  @Test
  void leaseTime_outsideFloorAndCap_isRefused() {
    assertContradiction(
        b -> b.leaseTime(Duration.ofMillis(99)), "leaseTime PT0.099S", "leaseFloor PT0.1S");
    assertContradiction(
        b -> b.leaseTime(Duration.ofMinutes(5).plusNanos(1)),
        "leaseTime PT5M0.000000001S",
        "leaseCap PT5M");
    assertContradiction(
        b -> b.leaseTime(Duration.ofSeconds(1)).leaseFloor(Duration.ofSeconds(2)),
        "leaseTime PT1S",
        "leaseFloor PT2S");
  }

  @Test
  void leaseTime_atFloorAndCap_isAccepted() {
    assertThat(build(b -> b.leaseTime(Duration.ofMillis(100))).leaseTime())
        .isEqualTo(Duration.ofMillis(100));
    assertThat(build(b -> b.leaseTime(Duration.ofMinutes(5))).leaseTime())
        .isEqualTo(Duration.ofMinutes(5));
    Duration only = Duration.ofSeconds(3);
    assertThat(build(b -> b.leaseFloor(only).leaseCap(only).leaseTime(only)).leaseTime())
        .isEqualTo(only);
  }

  @Test
  void leaseTime_byDefault_movesIntoFloorAndCap() {
    assertThat(build(b -> b.leaseFloor(Duration.ofSeconds(20))).leaseTime())
        .isEqualTo(Duration.ofSeconds(20));
    assertThat(build(b -> b.leaseCap(Duration.ofSeconds(2))).leaseTime())
        .isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void order_ofOptions_doesNotMatter() {
    assertThat(
            build(
                    b ->
                        b.leaseTime(Duration.ofMinutes(10))
                            .leaseCap(Duration.ofMinutes(20))
                            .leaseFloor(Duration.ofMinutes(10)))
                .leaseTime())
        .isEqualTo(Duration.ofMinutes(10));
  }
}
