/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.spring.boot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * The properties {@code paddock.*}. Ranges and defaults are those of {@link
 * dev.paddock.CacheBuilder}, {@link dev.paddock.Paddock.Builder} and {@link
 * dev.paddock.LeaseOptions}; a value out of range stops the start. Not thread-safe: bound once,
 * when the application starts.
 */
@ConfigurationProperties("paddock")
public final class PaddockProperties {
  /** Whether Paddock is used: true or false, true by default. */
  private boolean enabled = true;

  /** How long connecting to Redis may take at the start: 1 ms to 1 day, 10s by default. */
  private @Nullable Duration connectTimeout;

  /**
   * How long one command may take before a call goes on without Redis: 1 ms to 1 day, 1s by
   * default.
   */
  private @Nullable Duration commandTimeout;

  /** How many loads of all caches run at once in this process: 1 or more, no limit by default. */
  private @Nullable Integer maxConcurrentLoads;

  /** How many loads of all caches wait in line for that: 0 or more, 10000 by default. */
  private @Nullable Integer maxQueuedLoads;

  /**
   * Whether each cacheable method that allows it is treated as if it said sync = true: true or
   * false, true by default.
   */
  private boolean protectAll = true;

  /**
   * Which JSON library encodes values: auto (Jackson 3 on Spring Boot 4, Jackson 2 on Spring Boot
   * 3), jackson3 or jackson2, auto by default.
   */
  private Json json = Json.AUTO;

  /** Settings of all caches that have none of their own. */
  private final CacheSettings defaults = new CacheSettings();

  /** Settings of single caches, by name. */
  private final Map<String, NamedCacheSettings> caches = new LinkedHashMap<>();

  /** Leases, for the LeaseLock bean and for methods that are Leased. */
  private final LeaseSettings leases = new LeaseSettings();

  /** Makes properties with all defaults. */
  public PaddockProperties() {}

  /**
   * Returns the setting.
   *
   * @return whether Paddock is used
   */
  public boolean isEnabled() {
    return enabled;
  }

  /**
   * Changes the setting.
   *
   * @param enabled whether Paddock is used
   */
  public void setEnabled(boolean enabled) {
    this.enabled = enabled;
  }

  /**
   * Returns the setting.
   *
   * @return how long connecting may take; null for the default
   */
  public @Nullable Duration getConnectTimeout() {
    return connectTimeout;
  }

  /**
   * Changes the setting.
   *
   * @param connectTimeout how long connecting may take; null for the default
   */
  public void setConnectTimeout(@Nullable Duration connectTimeout) {
    this.connectTimeout = connectTimeout;
  }

  /**
   * Returns the setting.
   *
   * @return how long one command may take; null for the default
   */
  public @Nullable Duration getCommandTimeout() {
    return commandTimeout;
  }

  /**
   * Changes the setting.
   *
   * @param commandTimeout how long one command may take; null for the default
   */
  public void setCommandTimeout(@Nullable Duration commandTimeout) {
    this.commandTimeout = commandTimeout;
  }

  /**
   * Returns the setting.
   *
   * @return how many loads run at once; null for the default
   */
  public @Nullable Integer getMaxConcurrentLoads() {
    return maxConcurrentLoads;
  }

  /**
   * Changes the setting.
   *
   * @param maxConcurrentLoads how many loads run at once; null for the default
   */
  public void setMaxConcurrentLoads(@Nullable Integer maxConcurrentLoads) {
    this.maxConcurrentLoads = maxConcurrentLoads;
  }

  /**
   * Returns the setting.
   *
   * @return how many loads wait in line; null for the default
   */
  public @Nullable Integer getMaxQueuedLoads() {
    return maxQueuedLoads;
  }

  /**
   * Changes the setting.
   *
   * @param maxQueuedLoads how many loads wait in line; null for the default
   */
  public void setMaxQueuedLoads(@Nullable Integer maxQueuedLoads) {
    this.maxQueuedLoads = maxQueuedLoads;
  }

  /**
   * Returns the setting.
   *
   * @return whether methods are treated as if they said sync
   */
  public boolean isProtectAll() {
    return protectAll;
  }

  /**
   * Changes the setting.
   *
   * @param protectAll whether methods are treated as if they said sync
   */
  public void setProtectAll(boolean protectAll) {
    this.protectAll = protectAll;
  }

  /**
   * Returns the setting.
   *
   * @return which library encodes values
   */
  public Json getJson() {
    return json;
  }

  /**
   * Changes the setting.
   *
   * @param json which library encodes values
   */
  public void setJson(Json json) {
    this.json = json;
  }

  /**
   * Returns the settings of all caches that have none of their own.
   *
   * @return the settings
   */
  public CacheSettings getDefaults() {
    return defaults;
  }

  /**
   * Returns the settings of single caches.
   *
   * @return settings by the name of the cache
   */
  public Map<String, NamedCacheSettings> getCaches() {
    return caches;
  }

  /**
   * Returns the settings of leases.
   *
   * @return the settings
   */
  public LeaseSettings getLeases() {
    return leases;
  }

  /** Which library makes JSON. */
  public enum Json {
    /** Jackson 3 on Spring Boot 4, Jackson 2 on Spring Boot 3; the other one if that is missing. */
    AUTO,
    /** Jackson 3. */
    JACKSON3,
    /** Jackson 2. */
    JACKSON2
  }

  /** What a caller gets when waiting did not help; see {@link dev.paddock.Otherwise}. */
  public enum Otherwise {
    /** An exception. */
    FAIL,
    /** The one degraded load that each lease allows beside its holder, else an exception. */
    LOAD_DEGRADED
  }

  /** Settings of one cache beside those that caches may share. */
  public static final class NamedCacheSettings extends CacheSettings {
    /**
     * The types of the values, com.example.Post for example, for what the return types of methods
     * do not say: none by default.
     */
    private List<String> types = new ArrayList<>();

    /** Makes settings with all defaults. */
    public NamedCacheSettings() {}

    /**
     * Returns the types of the values beside those that methods return.
     *
     * @return names of types
     */
    public List<String> getTypes() {
      return types;
    }

    /**
     * Changes the types of the values.
     *
     * @param types names of types
     */
    public void setTypes(List<String> types) {
      this.types = types;
    }
  }

  /** Settings of leases. */
  public static final class LeaseSettings {
    /**
     * Where leases are kept, as a URI such as redlock://h1:6379,h2:6379,h3:6379 or etcd://h:2379:
     * the application's Redis by default.
     */
    private @Nullable String uri;

    /** How long a lease lasts without its holder saying anything: 1 ms to 1 day, 30s by default. */
    private Duration leaseTime = Duration.ofSeconds(30);

    /**
     * For how long at most a lease is renewed while its method runs: 1 ms to 1 day, 1h by default.
     */
    private Duration renewFor = Duration.ofHours(1);

    /** What the names of leases of methods begin with: empty by default. */
    private String namePrefix = "";

    /** Makes settings with all defaults. */
    public LeaseSettings() {}

    /**
     * Returns the setting.
     *
     * @return where leases are kept; null for the default
     */
    public @Nullable String getUri() {
      return uri;
    }

    /**
     * Changes the setting.
     *
     * @param uri where leases are kept; null for the default
     */
    public void setUri(@Nullable String uri) {
      this.uri = uri;
    }

    /**
     * Returns the setting.
     *
     * @return how long a lease lasts
     */
    public Duration getLeaseTime() {
      return leaseTime;
    }

    /**
     * Changes the setting.
     *
     * @param leaseTime how long a lease lasts
     */
    public void setLeaseTime(Duration leaseTime) {
      this.leaseTime = leaseTime;
    }

    /**
     * Returns the setting.
     *
     * @return for how long at most it is renewed
     */
    public Duration getRenewFor() {
      return renewFor;
    }

    /**
     * Changes the setting.
     *
     * @param renewFor for how long at most it is renewed
     */
    public void setRenewFor(Duration renewFor) {
      this.renewFor = renewFor;
    }

    /**
     * Returns the setting.
     *
     * @return what names begin with
     */
    public String getNamePrefix() {
      return namePrefix;
    }

    /**
     * Changes the setting.
     *
     * @param namePrefix what names begin with
     */
    public void setNamePrefix(String namePrefix) {
      this.namePrefix = namePrefix;
    }
  }

  /** Settings that caches may share. */
  public static sealed class CacheSettings permits NamedCacheSettings {
    /** Whether the cache is on: true or false, true by default. Off, each call runs its method. */
    private @Nullable Boolean enabled;

    /** How long a value is fresh, before jitter: 1 ms to 10 years, 5m by default. */
    private @Nullable Duration timeToLive;

    /**
     * How long a value is kept after that, to be returned at once while one load in the fleet
     * refreshes it: 0 to 10 years, 0 by default.
     */
    private @Nullable Duration serveStaleFor;

    /**
     * How long a value is kept for callers whose load fails or takes too long: 0 to 10 years, 0 by
     * default.
     */
    private @Nullable Duration failSafeFor;

    /**
     * Whether callers wait for a fresh value although stale ones are kept: true or false, false by
     * default.
     */
    private @Nullable Boolean alwaysFresh;

    /** The part by which a TTL is shortened at most, at random: 0 to 0.5, 0.1 by default. */
    private @Nullable Double jitter;

    /**
     * How eagerly hits refresh a value before it expires, as the factor beta: 0 (never) to 10, 0 by
     * default.
     */
    private @Nullable Double earlyRefresh;

    /**
     * The part of its TTL after which the next hit refreshes a value: above 0 to 1, 1 (not early)
     * by default.
     */
    private @Nullable Double earlyRefreshAt;

    /**
     * How long it is remembered that a method returned null: 0 (not at all) to 10 years, 30s or the
     * time to live by default, whichever is shorter.
     */
    private @Nullable Duration negativeTimeToLive;

    /** How long a caller waits for the load of another: 0 to 1 day, 5s by default. */
    private @Nullable Duration maxWait;

    /**
     * What a caller gets when waiting did not help: fail (an exception) or load-degraded (one more
     * load for each lease), fail by default.
     */
    private @Nullable Otherwise otherwise;

    /**
     * How long the right to load lasts unless it is extended: 1 ms to 1 day, measured by default.
     */
    private @Nullable Duration leaseTime;

    /** The shortest lease: 1 ms to 1 day, 1s by default. */
    private @Nullable Duration leaseFloor;

    /** The longest lease: 1 ms to 1 day, 5m by default. */
    private @Nullable Duration leaseCap;

    /** Whether the lease is extended while the load runs: true or false, true by default. */
    private @Nullable Boolean renewal;

    /** When a load is given up: 1 ms to 1 day, 30s by default. */
    private @Nullable Duration maxLoadTime;

    /**
     * After which time a caller takes the stale value at hand; loads then run on other threads: 1
     * ms to 1 day, none by default.
     */
    private @Nullable Duration softLoadTimeout;

    /**
     * How long a caller waits for its own load; loads then run on other threads: 1 ms to 1 day,
     * none by default.
     */
    private @Nullable Duration hardLoadTimeout;

    /**
     * For how long after a failed load nobody in the fleet starts the next: 0 to 1 day, 1s by
     * default.
     */
    private @Nullable Duration coolDown;

    /**
     * For how long after an eviction loaded values are returned but not stored: 0 to 1 day, 0 by
     * default.
     */
    private @Nullable Duration holdOff;

    /**
     * How long this process keeps what it loaded while Redis could not take it: 0 to 1 day, 5s by
     * default.
     */
    private @Nullable Duration outageTimeToLive;

    /** How many loads run at once in this process: 1 or more, no limit by default. */
    private @Nullable Integer maxConcurrentLoads;

    /** How many loads wait in line for that: 0 or more, 1000 by default. */
    private @Nullable Integer maxQueuedLoads;

    /** What all keys of the cache begin with in Redis: 0 to 200 characters, empty by default. */
    private @Nullable String keyPrefix;

    /** Payloads that are longer are compressed: 0 to 2 GB, never by default. */
    private @Nullable DataSize compressAbove;

    /**
     * The largest payload; larger loaded values are returned, not stored: 0 to 2 GB, 16MB by
     * default.
     */
    private @Nullable DataSize maxValueSize;

    /**
     * The version of the values' types; stored values of another version are misses: 0 to
     * 999999999, 0 by default.
     */
    private @Nullable Integer schemaVersion;

    /**
     * Whether evictions wait for the commit, and loads inside a transaction are stored only where
     * they read committed data: true or false, true by default.
     */
    private @Nullable Boolean transactionAware;

    /** How many fresh values are kept in this process too: 1 or more, none by default. */
    private @Nullable Long nearMaxEntries;

    /** How long such a value is kept there: 1 ms to 1 day, 5s by default. */
    private @Nullable Duration nearTimeToLive;

    /**
     * How long after a clear other processes may still serve what was there before: 0 (never) to 1
     * hour, 1s by default.
     */
    private @Nullable Duration tagLag;

    /**
     * By how much the clocks of the servers of one Redis may differ: 0 to 1 hour, 100ms by default.
     */
    private @Nullable Duration tagSkew;

    /** Makes settings with all defaults. */
    public CacheSettings() {}

    /**
     * Returns the setting.
     *
     * @return whether the cache is on; null for the default
     */
    public @Nullable Boolean getEnabled() {
      return enabled;
    }

    /**
     * Changes the setting.
     *
     * @param enabled whether the cache is on; null for the default
     */
    public void setEnabled(@Nullable Boolean enabled) {
      this.enabled = enabled;
    }

    /**
     * Returns the setting.
     *
     * @return how long a value is fresh, before jitter; null for the default
     */
    public @Nullable Duration getTimeToLive() {
      return timeToLive;
    }

    /**
     * Changes the setting.
     *
     * @param timeToLive how long a value is fresh, before jitter; null for the default
     */
    public void setTimeToLive(@Nullable Duration timeToLive) {
      this.timeToLive = timeToLive;
    }

    /**
     * Returns the setting.
     *
     * @return how long a value is kept after that, to be returned at once while one load in the
     *     fleet refreshes it; null for the default
     */
    public @Nullable Duration getServeStaleFor() {
      return serveStaleFor;
    }

    /**
     * Changes the setting.
     *
     * @param serveStaleFor how long a value is kept after that, to be returned at once while one
     *     load in the fleet refreshes it; null for the default
     */
    public void setServeStaleFor(@Nullable Duration serveStaleFor) {
      this.serveStaleFor = serveStaleFor;
    }

    /**
     * Returns the setting.
     *
     * @return how long a value is kept for callers whose load fails or takes too long; null for the
     *     default
     */
    public @Nullable Duration getFailSafeFor() {
      return failSafeFor;
    }

    /**
     * Changes the setting.
     *
     * @param failSafeFor how long a value is kept for callers whose load fails or takes too long;
     *     null for the default
     */
    public void setFailSafeFor(@Nullable Duration failSafeFor) {
      this.failSafeFor = failSafeFor;
    }

    /**
     * Returns the setting.
     *
     * @return whether callers wait for a fresh value although stale ones are kept; null for the
     *     default
     */
    public @Nullable Boolean getAlwaysFresh() {
      return alwaysFresh;
    }

    /**
     * Changes the setting.
     *
     * @param alwaysFresh whether callers wait for a fresh value although stale ones are kept; null
     *     for the default
     */
    public void setAlwaysFresh(@Nullable Boolean alwaysFresh) {
      this.alwaysFresh = alwaysFresh;
    }

    /**
     * Returns the setting.
     *
     * @return the part by which a TTL is shortened at most, at random; null for the default
     */
    public @Nullable Double getJitter() {
      return jitter;
    }

    /**
     * Changes the setting.
     *
     * @param jitter the part by which a TTL is shortened at most, at random; null for the default
     */
    public void setJitter(@Nullable Double jitter) {
      this.jitter = jitter;
    }

    /**
     * Returns the setting.
     *
     * @return how eagerly hits refresh a value before it expires, as the factor beta; null for the
     *     default
     */
    public @Nullable Double getEarlyRefresh() {
      return earlyRefresh;
    }

    /**
     * Changes the setting.
     *
     * @param earlyRefresh how eagerly hits refresh a value before it expires, as the factor beta;
     *     null for the default
     */
    public void setEarlyRefresh(@Nullable Double earlyRefresh) {
      this.earlyRefresh = earlyRefresh;
    }

    /**
     * Returns the setting.
     *
     * @return the part of its TTL after which the next hit refreshes a value; null for the default
     */
    public @Nullable Double getEarlyRefreshAt() {
      return earlyRefreshAt;
    }

    /**
     * Changes the setting.
     *
     * @param earlyRefreshAt the part of its TTL after which the next hit refreshes a value; null
     *     for the default
     */
    public void setEarlyRefreshAt(@Nullable Double earlyRefreshAt) {
      this.earlyRefreshAt = earlyRefreshAt;
    }

    /**
     * Returns the setting.
     *
     * @return how long it is remembered that a method returned null; null for the default
     */
    public @Nullable Duration getNegativeTimeToLive() {
      return negativeTimeToLive;
    }

    /**
     * Changes the setting.
     *
     * @param negativeTimeToLive how long it is remembered that a method returned null; null for the
     *     default
     */
    public void setNegativeTimeToLive(@Nullable Duration negativeTimeToLive) {
      this.negativeTimeToLive = negativeTimeToLive;
    }

    /**
     * Returns the setting.
     *
     * @return how long a caller waits for the load of another; null for the default
     */
    public @Nullable Duration getMaxWait() {
      return maxWait;
    }

    /**
     * Changes the setting.
     *
     * @param maxWait how long a caller waits for the load of another; null for the default
     */
    public void setMaxWait(@Nullable Duration maxWait) {
      this.maxWait = maxWait;
    }

    /**
     * Returns the setting.
     *
     * @return what a caller gets when waiting did not help; null for the default
     */
    public @Nullable Otherwise getOtherwise() {
      return otherwise;
    }

    /**
     * Changes the setting.
     *
     * @param otherwise what a caller gets when waiting did not help; null for the default
     */
    public void setOtherwise(@Nullable Otherwise otherwise) {
      this.otherwise = otherwise;
    }

    /**
     * Returns the setting.
     *
     * @return how long the right to load lasts unless it is extended; null for the default
     */
    public @Nullable Duration getLeaseTime() {
      return leaseTime;
    }

    /**
     * Changes the setting.
     *
     * @param leaseTime how long the right to load lasts unless it is extended; null for the default
     */
    public void setLeaseTime(@Nullable Duration leaseTime) {
      this.leaseTime = leaseTime;
    }

    /**
     * Returns the setting.
     *
     * @return the shortest lease; null for the default
     */
    public @Nullable Duration getLeaseFloor() {
      return leaseFloor;
    }

    /**
     * Changes the setting.
     *
     * @param leaseFloor the shortest lease; null for the default
     */
    public void setLeaseFloor(@Nullable Duration leaseFloor) {
      this.leaseFloor = leaseFloor;
    }

    /**
     * Returns the setting.
     *
     * @return the longest lease; null for the default
     */
    public @Nullable Duration getLeaseCap() {
      return leaseCap;
    }

    /**
     * Changes the setting.
     *
     * @param leaseCap the longest lease; null for the default
     */
    public void setLeaseCap(@Nullable Duration leaseCap) {
      this.leaseCap = leaseCap;
    }

    /**
     * Returns the setting.
     *
     * @return whether the lease is extended while the load runs; null for the default
     */
    public @Nullable Boolean getRenewal() {
      return renewal;
    }

    /**
     * Changes the setting.
     *
     * @param renewal whether the lease is extended while the load runs; null for the default
     */
    public void setRenewal(@Nullable Boolean renewal) {
      this.renewal = renewal;
    }

    /**
     * Returns the setting.
     *
     * @return when a load is given up; null for the default
     */
    public @Nullable Duration getMaxLoadTime() {
      return maxLoadTime;
    }

    /**
     * Changes the setting.
     *
     * @param maxLoadTime when a load is given up; null for the default
     */
    public void setMaxLoadTime(@Nullable Duration maxLoadTime) {
      this.maxLoadTime = maxLoadTime;
    }

    /**
     * Returns the setting.
     *
     * @return after which time a caller takes the stale value at hand; loads then run on other
     *     threads; null for the default
     */
    public @Nullable Duration getSoftLoadTimeout() {
      return softLoadTimeout;
    }

    /**
     * Changes the setting.
     *
     * @param softLoadTimeout after which time a caller takes the stale value at hand; loads then
     *     run on other threads; null for the default
     */
    public void setSoftLoadTimeout(@Nullable Duration softLoadTimeout) {
      this.softLoadTimeout = softLoadTimeout;
    }

    /**
     * Returns the setting.
     *
     * @return how long a caller waits for its own load; loads then run on other threads; null for
     *     the default
     */
    public @Nullable Duration getHardLoadTimeout() {
      return hardLoadTimeout;
    }

    /**
     * Changes the setting.
     *
     * @param hardLoadTimeout how long a caller waits for its own load; loads then run on other
     *     threads; null for the default
     */
    public void setHardLoadTimeout(@Nullable Duration hardLoadTimeout) {
      this.hardLoadTimeout = hardLoadTimeout;
    }

    /**
     * Returns the setting.
     *
     * @return for how long after a failed load nobody in the fleet starts the next; null for the
     *     default
     */
    public @Nullable Duration getCoolDown() {
      return coolDown;
    }

    /**
     * Changes the setting.
     *
     * @param coolDown for how long after a failed load nobody in the fleet starts the next; null
     *     for the default
     */
    public void setCoolDown(@Nullable Duration coolDown) {
      this.coolDown = coolDown;
    }

    /**
     * Returns the setting.
     *
     * @return for how long after an eviction loaded values are returned but not stored; null for
     *     the default
     */
    public @Nullable Duration getHoldOff() {
      return holdOff;
    }

    /**
     * Changes the setting.
     *
     * @param holdOff for how long after an eviction loaded values are returned but not stored; null
     *     for the default
     */
    public void setHoldOff(@Nullable Duration holdOff) {
      this.holdOff = holdOff;
    }

    /**
     * Returns the setting.
     *
     * @return how long this process keeps what it loaded while Redis could not take it; null for
     *     the default
     */
    public @Nullable Duration getOutageTimeToLive() {
      return outageTimeToLive;
    }

    /**
     * Changes the setting.
     *
     * @param outageTimeToLive how long this process keeps what it loaded while Redis could not take
     *     it; null for the default
     */
    public void setOutageTimeToLive(@Nullable Duration outageTimeToLive) {
      this.outageTimeToLive = outageTimeToLive;
    }

    /**
     * Returns the setting.
     *
     * @return how many loads run at once in this process; null for the default
     */
    public @Nullable Integer getMaxConcurrentLoads() {
      return maxConcurrentLoads;
    }

    /**
     * Changes the setting.
     *
     * @param maxConcurrentLoads how many loads run at once in this process; null for the default
     */
    public void setMaxConcurrentLoads(@Nullable Integer maxConcurrentLoads) {
      this.maxConcurrentLoads = maxConcurrentLoads;
    }

    /**
     * Returns the setting.
     *
     * @return how many loads wait in line for that; null for the default
     */
    public @Nullable Integer getMaxQueuedLoads() {
      return maxQueuedLoads;
    }

    /**
     * Changes the setting.
     *
     * @param maxQueuedLoads how many loads wait in line for that; null for the default
     */
    public void setMaxQueuedLoads(@Nullable Integer maxQueuedLoads) {
      this.maxQueuedLoads = maxQueuedLoads;
    }

    /**
     * Returns the setting.
     *
     * @return what all keys of the cache begin with in Redis; null for the default
     */
    public @Nullable String getKeyPrefix() {
      return keyPrefix;
    }

    /**
     * Changes the setting.
     *
     * @param keyPrefix what all keys of the cache begin with in Redis; null for the default
     */
    public void setKeyPrefix(@Nullable String keyPrefix) {
      this.keyPrefix = keyPrefix;
    }

    /**
     * Returns the setting.
     *
     * @return payloads that are longer are compressed; null for the default
     */
    public @Nullable DataSize getCompressAbove() {
      return compressAbove;
    }

    /**
     * Changes the setting.
     *
     * @param compressAbove payloads that are longer are compressed; null for the default
     */
    public void setCompressAbove(@Nullable DataSize compressAbove) {
      this.compressAbove = compressAbove;
    }

    /**
     * Returns the setting.
     *
     * @return the largest payload; larger loaded values are returned, not stored; null for the
     *     default
     */
    public @Nullable DataSize getMaxValueSize() {
      return maxValueSize;
    }

    /**
     * Changes the setting.
     *
     * @param maxValueSize the largest payload; larger loaded values are returned, not stored; null
     *     for the default
     */
    public void setMaxValueSize(@Nullable DataSize maxValueSize) {
      this.maxValueSize = maxValueSize;
    }

    /**
     * Returns the setting.
     *
     * @return the version of the values' types; stored values of another version are misses; null
     *     for the default
     */
    public @Nullable Integer getSchemaVersion() {
      return schemaVersion;
    }

    /**
     * Changes the setting.
     *
     * @param schemaVersion the version of the values' types; stored values of another version are
     *     misses; null for the default
     */
    public void setSchemaVersion(@Nullable Integer schemaVersion) {
      this.schemaVersion = schemaVersion;
    }

    /**
     * Returns the setting.
     *
     * @return whether evictions wait for the commit, and loads inside a transaction are stored only
     *     where they read committed data; null for the default
     */
    public @Nullable Boolean getTransactionAware() {
      return transactionAware;
    }

    /**
     * Changes the setting.
     *
     * @param transactionAware whether evictions wait for the commit, and loads inside a transaction
     *     are stored only where they read committed data; null for the default
     */
    public void setTransactionAware(@Nullable Boolean transactionAware) {
      this.transactionAware = transactionAware;
    }

    /**
     * Returns the setting.
     *
     * @return how many fresh values are kept in this process too; null for the default
     */
    public @Nullable Long getNearMaxEntries() {
      return nearMaxEntries;
    }

    /**
     * Changes the setting.
     *
     * @param nearMaxEntries how many fresh values are kept in this process too; null for the
     *     default
     */
    public void setNearMaxEntries(@Nullable Long nearMaxEntries) {
      this.nearMaxEntries = nearMaxEntries;
    }

    /**
     * Returns the setting.
     *
     * @return how long such a value is kept there; null for the default
     */
    public @Nullable Duration getNearTimeToLive() {
      return nearTimeToLive;
    }

    /**
     * Changes the setting.
     *
     * @param nearTimeToLive how long such a value is kept there; null for the default
     */
    public void setNearTimeToLive(@Nullable Duration nearTimeToLive) {
      this.nearTimeToLive = nearTimeToLive;
    }

    /**
     * Returns the setting.
     *
     * @return how long after a clear other processes may still serve what was there before; null
     *     for the default
     */
    public @Nullable Duration getTagLag() {
      return tagLag;
    }

    /**
     * Changes the setting.
     *
     * @param tagLag how long after a clear other processes may still serve what was there before;
     *     null for the default
     */
    public void setTagLag(@Nullable Duration tagLag) {
      this.tagLag = tagLag;
    }

    /**
     * Returns the setting.
     *
     * @return by how much the clocks of the servers of one Redis may differ; null for the default
     */
    public @Nullable Duration getTagSkew() {
      return tagSkew;
    }

    /**
     * Changes the setting.
     *
     * @param tagSkew by how much the clocks of the servers of one Redis may differ; null for the
     *     default
     */
    public void setTagSkew(@Nullable Duration tagSkew) {
      this.tagSkew = tagSkew;
    }
  }
}
