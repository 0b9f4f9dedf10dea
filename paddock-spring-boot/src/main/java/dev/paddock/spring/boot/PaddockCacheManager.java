/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import dev.paddock.CacheBuilder;
import dev.paddock.Paddock;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.interceptor.CacheErrorHandler;

/**
 * Spring's cache manager on a {@link Paddock}: each cache loads a key once in the fleet.
 *
 * <p>Caches are made by their name when they are first asked for, with the settings {@code
 * paddock.caches.<name>.*} and {@code paddock.defaults.*}; those that have settings of their own
 * are made at the start. {@link Cache#getNativeCache()} is the {@link dev.paddock.Cache}, for what
 * Spring's interface does not have: stale values, bulk reads, a refresh.
 *
 * <p>Thread-safe. It closes nothing; the {@link Paddock} is closed by who made it. While Redis is
 * gone, reads are answered by the methods behind the caches, and writes throw.
 */
public final class PaddockCacheManager implements CacheManager {
  private static final Duration TAG_LAG = Duration.ofSeconds(1);

  private final Paddock paddock;
  private final PaddockProperties properties;
  private final CacheMethods methods;
  private final ValueCodecs codecs;
  private final List<PaddockCacheCustomizer> customizers;
  private final Supplier<CacheErrorHandler> errors;
  private final TransactionalReads reads;
  private final ClassLoader loader;
  private final Map<String, Cache> caches = new ConcurrentHashMap<>();

  PaddockCacheManager(
      Paddock paddock,
      PaddockProperties properties,
      CacheMethods methods,
      ValueCodecs codecs,
      List<PaddockCacheCustomizer> customizers,
      Supplier<CacheErrorHandler> errors,
      ClassLoader loader) {
    this.paddock = paddock;
    this.properties = properties;
    this.methods = methods;
    this.codecs = codecs;
    this.customizers = List.copyOf(customizers);
    this.errors = errors;
    this.reads = new TransactionalReads(methods);
    this.loader = loader;
    for (String name : properties.getCaches().keySet()) {
      open(name);
    }
  }

  /**
   * Returns a cache, made now if it was not there.
   *
   * @param name 1 to 100 characters, no {@code :} and no control characters
   * @return the cache
   * @throws IllegalArgumentException if the name is malformed
   */
  @Override
  public Cache getCache(String name) {
    return open(name);
  }

  private Cache open(String name) {
    Cache found = caches.get(name);
    return found != null ? found : caches.computeIfAbsent(name, this::make);
  }

  private Cache make(String name) {
    PaddockProperties.NamedCacheSettings own = properties.getCaches().get(name);
    PaddockProperties.CacheSettings defaults = properties.getDefaults();
    ValueTypes types = methods.types(name);
    if (own != null) {
      declareTypes(name, own, types);
    }
    types.useCodecs(codecs, schemaVersion(name, own, defaults));
    CacheBuilder<Object, Object> builder = paddock.cache(name, types);
    CacheOptions.apply(name, properties, builder);
    customizers.forEach(each -> each.customize(name, builder));
    unlessSet(() -> builder.keyFormat(SpringKeys.INSTANCE));
    // Spring's caches can always be cleared.
    unlessSet(() -> builder.tagLag(TAG_LAG));
    dev.paddock.Cache<Object, Object> cache;
    try {
      cache = builder.build();
    } catch (IllegalStateException e) {
      throw new InvalidPropertyException("paddock.caches." + name, e);
    }
    Boolean aware = own == null ? null : own.getTransactionAware();
    if (aware == null) {
      aware = defaults.getTransactionAware();
    }
    return new SpringCache(cache, reads, aware == null || aware, errors);
  }

  private void declareTypes(
      String name, PaddockProperties.NamedCacheSettings own, ValueTypes types) {
    for (int i = 0; i < own.getTypes().size(); i++) {
      String property = "paddock.caches." + name + ".types[" + i + "]";
      String text = own.getTypes().get(i);
      try {
        Type type = TypeNames.parse(text, loader);
        if (!TypeNames.isClosed(type)) {
          throw new IllegalArgumentException("it must name a type that says what is stored");
        }
        types.declare(type, property);
      } catch (IllegalArgumentException e) {
        throw new InvalidPropertyException(property, text, e);
      }
    }
  }

  private static int schemaVersion(
      String name,
      PaddockProperties.@Nullable NamedCacheSettings own,
      PaddockProperties.CacheSettings defaults) {
    Integer version = own == null ? null : own.getSchemaVersion();
    String property = "paddock.caches." + name + ".schema-version";
    if (version == null) {
      version = defaults.getSchemaVersion();
      property = "paddock.defaults.schema-version";
    }
    if (version == null) {
      return 0;
    }
    if (version < 0 || version > 999_999_999) {
      throw new InvalidPropertyException(
          property,
          version,
          new IllegalArgumentException("schemaVersion must be between 0 and 999999999"));
    }
    return version;
  }

  /**
   * Returns the names of the caches that have been made so far.
   *
   * @return the names, in order
   */
  @Override
  public Collection<String> getCacheNames() {
    return new TreeSet<>(caches.keySet());
  }

  /** Sets an option for which there is no property, or none was given; a customizer's counts. */
  private static void unlessSet(Runnable setter) {
    try {
      setter.run();
    } catch (IllegalStateException e) {
      // Set already: options can be set once, and there is no asking.
      return;
    }
  }
}
