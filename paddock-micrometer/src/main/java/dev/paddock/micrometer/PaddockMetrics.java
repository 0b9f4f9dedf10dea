/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.paddock.CacheEvent;
import dev.paddock.LeaseEvent;
import dev.paddock.LeaseListener;
import dev.paddock.PaddockListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns the events of caches and leases into meters of Micrometer.
 *
 * <pre>{@code
 * PaddockMetrics metrics = PaddockMetrics.of(registry);
 * Paddock paddock = Paddock.newBuilder().store(uri).listener(metrics).build();
 * LeaseLock lock = LeaseLock.newBuilder().store(uri).listener(metrics).build();
 * }</pre>
 *
 * <p>All tags have values of closed sets, but for {@code cache}, the name of the cache: never a
 * key, and no name of a lease unless {@link Builder#leaseTag} asks for it. The meters of a cache
 * are registered together at its first event, and are found in fields from then on; an event makes
 * no tags and takes no lock. They stay in the registry when a Paddock closes.
 *
 * <p>One instance may listen to several Paddocks and locks of a process; their figures are then
 * added. Two instances with one registry need different {@link Builder#tags}, for the gauges of the
 * second are ignored else. Thread-safe. Blocks nowhere, as far as the registry does not.
 *
 * @since 0.1.0
 */
public final class PaddockMetrics implements PaddockListener, LeaseListener {
  /** So many values of the tag {@code lease}; what comes after has the value "other". */
  static final int LEASE_TAGS_MAX = 100;

  private final MeterRegistry registry;
  private final Tags tags;
  private final Meters meters;
  private final @Nullable String cacheManager;
  private final @Nullable Function<? super String, String> leaseTag;
  private final ConcurrentHashMap<String, CacheMeters> caches = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, LeaseMeters> leases = new ConcurrentHashMap<>();
  private final AtomicInteger open = new AtomicInteger();
  private final Counter opened;

  private PaddockMetrics(Builder builder) {
    registry = builder.registry;
    tags = builder.tags;
    meters = new Meters(registry, tags, builder.histograms);
    cacheManager = builder.springNames ? builder.managerOrUsual() : null;
    leaseTag = builder.leaseTag;
    meters.gauge("paddock.breaker.open", "Breakers that are open, one for each shard", open);
    opened = meters.counter("paddock.breaker.opened", "How often a breaker opened");
    builder.caches.forEach(this::of);
  }

  /**
   * Makes a listener with default settings.
   *
   * @param registry takes the meters
   * @return the listener
   */
  public static PaddockMetrics of(MeterRegistry registry) {
    return newBuilder(registry).build();
  }

  /**
   * Begins to make a listener.
   *
   * @param registry takes the meters
   * @return a builder
   */
  public static Builder newBuilder(MeterRegistry registry) {
    return new Builder(registry);
  }

  @Override
  public void onEvent(CacheEvent event) {
    if (event instanceof CacheEvent.BreakerChanged changed) {
      // Of a shard of the store, whichever cache's command has shown it.
      if (changed.open()) {
        open.incrementAndGet();
        opened.increment();
      } else {
        open.decrementAndGet();
      }
      return;
    }
    of(event.cache()).count(event);
  }

  @Override
  public void onEvent(LeaseEvent event) {
    ofLease(event.name()).count(event);
  }

  private CacheMeters of(String cache) {
    CacheMeters known = caches.get(cache);
    return known != null ? known : caches.computeIfAbsent(cache, this::registered);
  }

  private CacheMeters registered(String cache) {
    return new CacheMeters(
        meters,
        cache,
        cacheManager == null
            ? SpringCounters.off(cache)
            : new SpringCounters(registry, tags, cacheManager, cache));
  }

  private LeaseMeters ofLease(String name) {
    if (leaseTag == null) {
      LeaseMeters known = leases.get("");
      return known != null ? known : leases.computeIfAbsent("", all -> new LeaseMeters(meters));
    }
    String value = leaseTag.apply(name);
    if (value == null || value.isEmpty()) {
      value = Meters.OTHER;
    }
    LeaseMeters known = leases.get(value);
    if (known != null) {
      return known;
    }
    String bounded = leases.size() < LEASE_TAGS_MAX ? value : Meters.OTHER;
    return leases.computeIfAbsent(bounded, tag -> new LeaseMeters(meters.with("lease", tag)));
  }

  /** Makes a {@link PaddockMetrics}. Not thread-safe. */
  public static final class Builder {
    private static final String USUAL_MANAGER = "paddock";

    private final MeterRegistry registry;
    private Tags tags = Tags.empty();
    private boolean histograms = true;
    private boolean springNames = true;
    private @Nullable String cacheManager;
    private @Nullable Function<? super String, String> leaseTag;
    private final List<String> caches = new ArrayList<>();

    private Builder(MeterRegistry registry) {
      this.registry = requireNonNull(registry, "registry");
    }

    /**
     * Adds tags to all meters.
     *
     * @param more the tags; none by default
     * @return this
     */
    public Builder tags(Iterable<Tag> more) {
      tags = tags.and(requireNonNull(more, "more"));
      return this;
    }

    /**
     * Registers the meters of caches at once, so that they show as zero before the first event.
     *
     * @param names the names of the caches; none by default
     * @return this
     */
    public Builder caches(Collection<String> names) {
      caches.addAll(List.copyOf(names));
      return this;
    }

    /**
     * Sets whether timers have buckets, which are most of the time series of a cache.
     *
     * @param on true by default
     * @return this
     */
    public Builder histograms(boolean on) {
      histograms = on;
      return this;
    }

    /**
     * Sets whether there are {@code cache.gets}, {@code cache.puts} and {@code cache.removals} too,
     * which Spring Boot has for any cache. To be turned off if something else registers them for
     * the same caches.
     *
     * @param on true by default
     * @return this
     */
    public Builder springNames(boolean on) {
      springNames = on;
      return this;
    }

    /**
     * Sets the value of the tag {@code cache.manager} of Spring's meters.
     *
     * @param name the name of the cache manager, "paddock" by default
     * @return this
     * @throws IllegalStateException if it was set already
     */
    public Builder cacheManager(String name) {
      if (cacheManager != null) {
        throw new IllegalStateException("cacheManager was set already, to " + cacheManager);
      }
      cacheManager = requireNonNull(name, "name");
      return this;
    }

    /**
     * Gives the meters of leases a tag {@code lease}, made of the lease's name. By default they
     * have none, since names may be as many as there are orders or customers.
     *
     * @param tag makes a value of few out of a name, for instance its part before the first colon;
     *     called for each event, so it must be quick. Null and an empty text become "other", and so
     *     does each value beyond the first 100
     * @return this
     * @throws IllegalStateException if it was set already
     */
    public Builder leaseTag(Function<? super String, String> tag) {
      if (leaseTag != null) {
        throw new IllegalStateException("leaseTag was set already");
      }
      leaseTag = requireNonNull(tag, "tag");
      return this;
    }

    private String managerOrUsual() {
      return cacheManager == null ? USUAL_MANAGER : cacheManager;
    }

    /**
     * Makes the listener.
     *
     * @return the listener, to be given to builders of Paddocks and locks
     * @throws IllegalStateException if {@link #cacheManager} was set without Spring's names
     */
    public PaddockMetrics build() {
      if (!springNames && cacheManager != null) {
        throw new IllegalStateException(
            "cacheManager is a tag of Spring's meters, which are turned off: leave one out");
      }
      return new PaddockMetrics(this);
    }
  }
}
