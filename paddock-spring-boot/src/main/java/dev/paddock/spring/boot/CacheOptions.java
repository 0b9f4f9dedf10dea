/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.CacheBuilder;
import dev.paddock.Otherwise;
import dev.paddock.spring.boot.PaddockProperties.CacheSettings;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;

/** Which property sets which option of a cache. */
final class CacheOptions {
  private static final List<Option<?>> ALL =
      List.of(
          new Option<>(
              "near-max-entries",
              CacheSettings::getNearMaxEntries,
              (b, value) -> b.nearMaxEntries(value)),
          new Option<>(
              "near-time-to-live",
              CacheSettings::getNearTimeToLive,
              (b, value) -> b.nearTimeToLive(value)),
          new Option<>("tag-lag", CacheSettings::getTagLag, (b, value) -> b.tagLag(value)),
          new Option<>("tag-skew", CacheSettings::getTagSkew, (b, value) -> b.tagSkew(value)),
          new Option<>("enabled", CacheSettings::getEnabled, (b, value) -> b.enabled(value)),
          new Option<>(
              "time-to-live", CacheSettings::getTimeToLive, (b, value) -> b.timeToLive(value)),
          new Option<>(
              "serve-stale-for",
              CacheSettings::getServeStaleFor,
              (b, value) -> b.serveStaleFor(value)),
          new Option<>(
              "fail-safe-for", CacheSettings::getFailSafeFor, (b, value) -> b.failSafeFor(value)),
          new Option<>(
              "always-fresh",
              CacheSettings::getAlwaysFresh,
              (b, on) -> {
                if (on) {
                  b.alwaysFresh();
                }
              }),
          new Option<>("jitter", CacheSettings::getJitter, (b, value) -> b.jitter(value)),
          new Option<>(
              "early-refresh", CacheSettings::getEarlyRefresh, (b, value) -> b.earlyRefresh(value)),
          new Option<>(
              "early-refresh-at",
              CacheSettings::getEarlyRefreshAt,
              (b, value) -> b.earlyRefreshAt(value)),
          new Option<>(
              "negative-time-to-live",
              CacheSettings::getNegativeTimeToLive,
              (b, value) -> b.negativeTimeToLive(value)),
          new Option<>("max-wait", CacheSettings::getMaxWait, (b, value) -> b.maxWait(value)),
          new Option<>(
              "otherwise",
              CacheSettings::getOtherwise,
              (b, choice) ->
                  b.otherwise(
                      choice == PaddockProperties.Otherwise.FAIL
                          ? Otherwise.fail()
                          : Otherwise.loadDegraded())),
          new Option<>("lease-time", CacheSettings::getLeaseTime, (b, value) -> b.leaseTime(value)),
          new Option<>(
              "lease-floor", CacheSettings::getLeaseFloor, (b, value) -> b.leaseFloor(value)),
          new Option<>("lease-cap", CacheSettings::getLeaseCap, (b, value) -> b.leaseCap(value)),
          new Option<>("renewal", CacheSettings::getRenewal, (b, value) -> b.renewal(value)),
          new Option<>(
              "max-load-time", CacheSettings::getMaxLoadTime, (b, value) -> b.maxLoadTime(value)),
          new Option<>(
              "soft-load-timeout",
              CacheSettings::getSoftLoadTimeout,
              (b, value) -> b.softLoadTimeout(value)),
          new Option<>(
              "hard-load-timeout",
              CacheSettings::getHardLoadTimeout,
              (b, value) -> b.hardLoadTimeout(value)),
          new Option<>("cool-down", CacheSettings::getCoolDown, (b, value) -> b.coolDown(value)),
          new Option<>("hold-off", CacheSettings::getHoldOff, (b, value) -> b.holdOff(value)),
          new Option<>(
              "outage-time-to-live",
              CacheSettings::getOutageTimeToLive,
              (b, value) -> b.outageTimeToLive(value)),
          new Option<>(
              "max-concurrent-loads",
              CacheSettings::getMaxConcurrentLoads,
              (b, value) -> b.maxConcurrentLoads(value)),
          new Option<>(
              "max-queued-loads",
              CacheSettings::getMaxQueuedLoads,
              (b, value) -> b.maxQueuedLoads(value)),
          new Option<>("key-prefix", CacheSettings::getKeyPrefix, (b, value) -> b.keyPrefix(value)),
          new Option<>(
              "compress-above",
              CacheSettings::getCompressAbove,
              (b, size) -> b.compressAbove(bytes(size))),
          new Option<>(
              "max-value-size",
              CacheSettings::getMaxValueSize,
              (b, size) -> b.maxValueBytes(bytes(size))));

  private CacheOptions() {}

  /**
   * Sets options by the cache's own properties, else by those for all caches.
   *
   * @throws InvalidPropertyException if a value is out of range
   */
  static void apply(
      String cache, PaddockProperties properties, CacheBuilder<Object, Object> builder) {
    CacheSettings own = properties.getCaches().get(cache);
    for (Option<?> option : ALL) {
      option.apply(cache, own, properties.getDefaults(), builder);
    }
  }

  private static int bytes(DataSize size) {
    long bytes = size.toBytes();
    if (bytes < 0 || bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("it must be between 0 and 2147483647 bytes, is " + bytes);
    }
    return (int) bytes;
  }

  private record Option<T>(
      String name,
      Function<CacheSettings, @Nullable T> value,
      BiConsumer<CacheBuilder<Object, Object>, T> setter) {

    void apply(
        String cache,
        @Nullable CacheSettings own,
        CacheSettings defaults,
        CacheBuilder<Object, Object> builder) {
      String property = "paddock.caches." + cache + "." + name;
      T chosen = own == null ? null : value.apply(own);
      if (chosen == null) {
        property = "paddock.defaults." + name;
        chosen = value.apply(defaults);
      }
      if (chosen == null) {
        return;
      }
      try {
        setter.accept(builder, chosen);
      } catch (IllegalArgumentException e) {
        throw new InvalidPropertyException(property, chosen, e);
      }
    }
  }
}
