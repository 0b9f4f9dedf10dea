/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Registers meters with common tags. The value of every other tag is of a closed set. */
final class Meters {
  /** The value of a tag for what is not in its set. */
  static final String OTHER = "other";

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(250),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofMillis(2_500),
    Duration.ofSeconds(5),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofMinutes(2)
  };

  private final MeterRegistry registry;
  private final Tags tags;
  private final boolean histograms;

  Meters(MeterRegistry registry, Tags tags, boolean histograms) {
    this.registry = registry;
    this.tags = tags;
    this.histograms = histograms;
  }

  Meters with(String key, String value) {
    return new Meters(registry, tags.and(key, value), histograms);
  }

  Counter counter(String name, String description) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  Counter counter(String name, String description, String key, String value) {
    return with(key, value).counter(name, description);
  }

  Counter counter(String name, String description, String key, Enum<?> value) {
    return counter(name, description, key, lower(value.name()));
  }

  Timer timer(String name, String description) {
    Timer.Builder builder = Timer.builder(name).description(description).tags(tags);
    if (histograms) {
      builder.serviceLevelObjectives(BUCKETS);
    }
    return builder.register(registry);
  }

  Timer timer(String name, String description, String key, String value) {
    return with(key, value).timer(name, description);
  }

  Timer timer(String name, String description, String key, Enum<?> value) {
    return timer(name, description, key, lower(value.name()));
  }

  DistributionSummary summary(String name, String description, String unit, double... buckets) {
    DistributionSummary.Builder builder =
        DistributionSummary.builder(name).description(description).baseUnit(unit).tags(tags);
    if (histograms) {
      builder.serviceLevelObjectives(buckets);
    }
    return builder.register(registry);
  }

  void gauge(String name, String description, AtomicInteger value) {
    Gauge.builder(name, value, AtomicInteger::get)
        .description(description)
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  /** A meter for each value of an enum. */
  static <E extends Enum<E>, M> Map<E, M> perValue(Class<E> values, Function<E, M> meter) {
    Map<E, M> all = new EnumMap<>(values);
    for (E value : values.getEnumConstants()) {
      all.put(value, meter.apply(value));
    }
    return all;
  }

  /**
   * A meter for each name, found by the name in upper case; the last stands for all that are not
   * there.
   */
  static <M> Map<String, M> perName(String[] names, Function<String, M> meter) {
    Map<String, M> all = new HashMap<>();
    for (String name : names) {
      all.put(name.toUpperCase(Locale.ROOT), meter.apply(name));
    }
    return all;
  }

  static <E extends Enum<E>, M> M of(Map<E, M> meters, E value) {
    return requireNonNull(meters.get(value));
  }

  static <M> M named(Map<String, M> meters, String name) {
    @Nullable M meter = meters.get(name);
    return meter != null ? meter : requireNonNull(meters.get(OTHER.toUpperCase(Locale.ROOT)));
  }

  /** Timers take no negative values. */
  static Duration atLeastZero(Duration duration) {
    return duration.isNegative() ? Duration.ZERO : duration;
  }

  static String lower(String name) {
    return name.toLowerCase(Locale.ROOT);
  }
}
