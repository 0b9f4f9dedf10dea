/*
 * Copyright The Paddock Authors
 * SPDX-License-Identifier: Apache-2.0
 */
package dev.paddock.internal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.paddock.BulkLoader;
import dev.paddock.BulkResult;
import dev.paddock.Cache;
import dev.paddock.CacheConfiguration;
import dev.paddock.CacheEvent;
import dev.paddock.CallOptions;
import dev.paddock.CodecException;
import dev.paddock.FillTimeoutException;
import dev.paddock.KeyFormats;
import dev.paddock.LoadFailedException;
import dev.paddock.Loader;
import dev.paddock.Lookup;
import dev.paddock.Otherwise;
import dev.paddock.PaddockClosedException;
import dev.paddock.PaddockInterruptedException;
import dev.paddock.RecursiveLoadException;
import dev.paddock.StoreException;
import dev.paddock.TooManyLoadsException;
import dev.paddock.spi.BarrierRequest;
import dev.paddock.spi.PutOutcome;
import dev.paddock.spi.ReadReply;
import dev.paddock.spi.StoreKey;
import dev.paddock.spi.StoredEntry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One cache: turns calls into reads, flights and writes, and entries into values. */
final class CacheEngine<K, V> implements Cache<K, V> {
  static final long NO_TIMEOUT = -1;

  private static final long MIN_GRACE_MILLIS = 60_000;

  private final Engine engine;
  private final Gateway gateway;
  private final Events<CacheEvent> events;
  private final CacheConfiguration<K, V> config;
  private final CallOptions<K, V> defaults;
  private final EntryCoder<V> coder;
  private final ReadCoalescer<K, V> reads;
  private final ConcurrentHashMap<StoreKey, Flight<K, V>> flights = new ConcurrentHashMap<>();
  private final byte[] keyStart;
  private final LeaseSizing leases;
  private final EarlyRefresh early;
  private final LoadGate.Room room;
  private final OutageValues<V> outageValues;

  /** Null without a near cache. */
  private final @Nullable NearCache<K, V> near;

  /** Null if values have no tags. */
  private final @Nullable Barriers barriers;

  private final SpaceWatch watch;
  private final long holdOffMillis;
  private final long staleMillis;

  /** How long values are kept past their soft TTL, for whatever use. */
  private final long keptMillis;

  private final Duration kept;
  private final long softTimeoutNanos;
  private final long hardTimeoutNanos;
  private volatile boolean enabled = true;

  CacheEngine(Engine engine, CacheConfiguration<K, V> config) {
    this.engine = engine;
    this.gateway = engine.gateway();
    this.events = engine.events();
    this.config = config;
    this.defaults = CallOptions.of(config);
    this.coder = new EntryCoder<>(config);
    this.reads = new ReadCoalescer<>(config.name(), gateway, this::onRead, this::onMissing);
    this.keyStart = (config.keyPrefix() + config.name() + ":").getBytes(UTF_8);
    this.leases = new LeaseSizing(engine.env(), events, config);
    this.early = new EarlyRefresh(engine.env(), events, config);
    this.room = engine.gate().room(config.maxConcurrentLoads(), config.maxQueuedLoads());
    this.outageValues = new OutageValues<>(engine.env(), config.outageTimeToLive().toNanos());
    this.holdOffMillis = Limits.millisRoundedUp(config.holdOff());
    this.staleMillis = Limits.millisRoundedUp(config.serveStaleFor());
    this.kept =
        config.serveStaleFor().compareTo(config.failSafeFor()) >= 0
            ? config.serveStaleFor()
            : config.failSafeFor();
    this.keptMillis = Limits.millisRoundedUp(kept);
    this.near =
        config.nearMaximum() == 0
            ? null
            : new NearCache<>(
                engine.env(),
                config.nearTimeToLive().toNanos(),
                config.nearMaximum(),
                config.nearWeigher());
    Duration lag = config.tagLag();
    this.barriers =
        lag == null
            ? null
            : new Barriers(
                engine,
                config.name(),
                keyStart,
                lag.toNanos(),
                Limits.millisRoundedUp(config.tagSkew()),
                Limits.millisRoundedUp(config.timeToLive()) + keptMillis);
    this.watch = new SpaceWatch(engine, keyStart, near, barriers);
    this.softTimeoutNanos = nanos(config.softLoadTimeout());
    this.hardTimeoutNanos = nanos(config.hardLoadTimeout());
  }

  /** {@link #NO_TIMEOUT} for none. */
  private static long nanos(@Nullable Duration timeout) {
    return timeout == null ? NO_TIMEOUT : timeout.toNanos();
  }

  Engine engine() {
    return engine;
  }

  EntryCoder<V> coder() {
    return coder;
  }

  LeaseSizing leases() {
    return leases;
  }

  LoadGate.Room room() {
    return room;
  }

  /** How long the record of a lease of that length is kept. */
  static long graceMillis(long leaseMillis) {
    return Math.max(10 * leaseMillis, MIN_GRACE_MILLIS);
  }

  /** How long the record of a lease is kept whose length is not at hand. */
  long graceMillis() {
    return graceMillis(leases.leaseMillis());
  }

  /** How long values are kept past their soft TTL at most. */
  Duration kept() {
    return kept;
  }

  long softTimeoutNanos() {
    return softTimeoutNanos;
  }

  long hardTimeoutNanos() {
    return hardTimeoutNanos;
  }

  /** Whether a caller must be able to leave its own load, which therefore runs elsewhere. */
  boolean loadsOnExecutor() {
    return softTimeoutNanos != NO_TIMEOUT || hardTimeoutNanos != NO_TIMEOUT;
  }

  @Override
  public String name() {
    return config.name();
  }

  @Override
  public CacheConfiguration<K, V> configuration() {
    return config;
  }

  @Override
  public CallOptions<K, V> options() {
    return defaults;
  }

  @Override
  public boolean isEnabled() {
    return enabled;
  }

  @Override
  public void setEnabled(boolean on) {
    enabled = on;
  }

  // ---------------------------------------------------------------- calls

  @Override
  public @Nullable V get(K key) {
    return get(key, ownLoader(), defaults);
  }

  @Override
  public @Nullable V get(K key, Loader<K, V> loader, CallOptions<K, V> options) {
    requireNonNull(loader, "loader");
    checkTags(options);
    Lookup<V> kept = nearValue(key, options);
    if (kept != null) {
      return kept.value();
    }
    StoreKey storeKey = storeKey(key);
    checkRecursion(storeKey);
    BlockingCall<K, V> call =
        new BlockingCall<>(key, storeKey, loader, options, engine.env().nanoTime());
    start(call);
    return call.await().value();
  }

  @Override
  public CompletableFuture<@Nullable V> getAsync(K key) {
    return getAsync(key, ownLoader(), defaults);
  }

  @Override
  public CompletableFuture<@Nullable V> getAsync(
      K key, Loader<K, V> loader, CallOptions<K, V> options) {
    requireNonNull(loader, "loader");
    return async(key, loader, options, false).view();
  }

  @Override
  public CompletableFuture<@Nullable V> refresh(K key) {
    return refresh(key, ownLoader());
  }

  @Override
  public CompletableFuture<@Nullable V> refresh(K key, Loader<K, V> loader) {
    requireNonNull(loader, "loader");
    return async(key, loader, defaults, true).view();
  }

  @Override
  public @Nullable V getIfPresent(K key) {
    try {
      return lookup(key).value();
    } catch (StoreException e) {
      // Told as an event; for this method a store that is gone knows of no value.
      return null;
    }
  }

  @Override
  public CompletableFuture<@Nullable V> getIfPresentAsync(K key) {
    return lookupAsync(key)
        .handle(
            (lookup, error) -> {
              if (error == null) {
                return lookup.value();
              }
              if (error instanceof StoreException) {
                return null;
              }
              throw error instanceof RuntimeException e ? e : new IllegalStateException(error);
            });
  }

  @Override
  public Lookup<V> lookup(K key) {
    BlockingCall<K, V> call =
        new BlockingCall<>(key, storeKey(key), null, defaults, engine.env().nanoTime());
    start(call);
    return call.await();
  }

  @Override
  public CompletableFuture<Lookup<V>> lookupAsync(K key) {
    return async(key, null, defaults, false).future;
  }

  @Override
  public Map<K, V> getAll(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options) {
    return BulkRead.values(name(), keys, tryGetAll(keys, loader, options));
  }

  @Override
  public CompletableFuture<Map<K, V>> getAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options) {
    BulkRead<K, V> read = bulkRead(keys, loader, options, false);
    if (read == null) {
      return CompletableFuture.completedFuture(BulkRead.<K, V>nothing().values());
    }
    read.begin();
    return read.view(result -> BulkRead.values(name(), keys, result));
  }

  @Override
  public BulkResult<K, V> tryGetAll(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options) {
    BulkRead<K, V> read = bulkRead(keys, loader, options, true);
    if (read == null) {
      return BulkRead.nothing();
    }
    read.begin();
    return read.await();
  }

  @Override
  public CompletableFuture<BulkResult<K, V>> tryGetAllAsync(
      Collection<? extends K> keys, BulkLoader<K, V> loader, CallOptions<K, V> options) {
    BulkRead<K, V> read = bulkRead(keys, loader, options, false);
    if (read == null) {
      return CompletableFuture.completedFuture(BulkRead.nothing());
    }
    read.begin();
    return read.view(result -> result);
  }

  /** Null if there is nothing to read. */
  private @Nullable BulkRead<K, V> bulkRead(
      Collection<? extends K> keys,
      BulkLoader<K, V> loader,
      CallOptions<K, V> options,
      boolean blocking) {
    requireNonNull(loader, "loader");
    checkTags(requireNonNull(options, "options"));
    List<K> asked = new ArrayList<>(keys);
    List<StoreKey> storeKeys = new ArrayList<>(asked.size());
    for (K key : asked) {
      StoreKey storeKey = storeKey(key);
      checkRecursion(storeKey);
      storeKeys.add(storeKey);
    }
    return asked.isEmpty()
        ? null
        : new BulkRead<>(this, asked, storeKeys, loader, options, blocking);
  }

  private AsyncCall<K, V> async(
      K key, @Nullable Loader<K, V> loader, CallOptions<K, V> options, boolean refresh) {
    checkTags(options);
    StoreKey storeKey = storeKey(key);
    if (loader != null) {
      checkRecursion(storeKey);
    }
    AsyncCall<K, V> call =
        new AsyncCall<>(
            key,
            storeKey,
            loader,
            options,
            engine.env().nanoTime(),
            refresh,
            engine.env().executor());
    start(call);
    return call;
  }

  private Loader<K, V> ownLoader() {
    Loader<K, V> loader = config.loader();
    if (loader == null) {
      throw new IllegalStateException(
          "cache "
              + config.name()
              + " was built without a loader: give it one with loader(...), or call a method that"
              + " takes one");
    }
    return loader;
  }

  private StoreKey storeKey(K key) {
    byte[] bytes = config.keyFormat().format(requireNonNull(key, "key"));
    if (bytes.length > KeyFormats.MAX_BYTES) {
      throw new IllegalArgumentException(
          "a key of cache "
              + config.name()
              + " has "
              + bytes.length
              + " bytes, the limit is "
              + KeyFormats.MAX_BYTES
              + ": hash long keys with a keyFormat of your own");
    }
    return StoreKey.of(keyStart, bytes);
  }

  private void checkRecursion(StoreKey key) {
    if (LoadRun.isLoading(key)) {
      throw new RecursiveLoadException(
          "the loader of "
              + key
              + " asked the cache for the key it was loading: call the source directly there");
    }
  }

  private void checkTags(CallOptions<K, V> options) {
    if (barriers == null && !options.tags().isEmpty()) {
      throw untagged("the tags " + options.tags());
    }
  }

  private IllegalStateException untagged(String what) {
    return new IllegalStateException(
        "cache " + name() + " was built without tags: set tagLag to use " + what);
  }

  /** What this process keeps of a key for such a call; null if nothing. */
  private @Nullable Lookup<V> nearValue(K key, CallOptions<K, V> options) {
    NearCache<K, V> from = near;
    if (from == null
        || !enabled
        || options.isBypassed()
        || !options.isStaleAllowed()
        || engine.isClosed()) {
      return null;
    }
    Lookup<V> found = from.get(requireNonNull(key, "key"));
    if (found != null && events.on()) {
      StoreKey known = from.storeKey(key);
      StoreKey storeKey = known == null ? storeKey(key) : known;
      events.emit(new CacheEvent.NearHit(config.name(), storeKey.toString()));
    }
    return found;
  }

  /** Answers a call from the near cache; false if that has no answer. */
  private boolean answeredNear(Call<K, V> call) {
    NearCache<K, V> from = near;
    if (from == null) {
      return false;
    }
    call.nearStamp = from.stamp(call.storeKey);
    Lookup<V> found = call.forced ? null : nearValue(call.key, call.options);
    if (found != null) {
      call.answer(found);
    }
    return found != null;
  }

  private void start(Call<K, V> call) {
    if (engine.isClosed()) {
      call.fail(closed(call));
      return;
    }
    if (!answeredNear(call) && !startUnread(call)) {
      reads.readHere(call);
    }
  }

  /** Starts a call that need not read first; false if it has to. */
  private boolean startUnread(Call<K, V> call) {
    Loader<K, V> loader = call.loader;
    if (!enabled || call.options.isBypassed()) {
      if (loader == null) {
        call.answer(missing());
      } else {
        loadDirectly(call, loader);
      }
    } else if (loader != null
        && (call.forced || call.options.isMissExpected() || isMissKnown(call.storeKey))) {
      enter(call);
    } else {
      return false;
    }
    return true;
  }

  /** Starts calls for different keys, which read together. */
  void startTogether(List<Call<K, V>> calls) {
    List<Call<K, V>> reading = new ArrayList<>(calls.size());
    for (Call<K, V> call : calls) {
      if (engine.isClosed()) {
        call.fail(closed(call));
      } else if (!answeredNear(call) && !startUnread(call)) {
        reading.add(call);
      }
    }
    if (!reading.isEmpty()) {
      readTogether(reading);
    }
  }

  /** Nobody joins these reads, for they are sent at once; see {@link ReadCoalescer}. */
  private void readTogether(List<Call<K, V>> calls) {
    List<StoreKey> keys = new ArrayList<>(calls.size());
    for (Call<K, V> call : calls) {
      // Where the store does not answer these days it is not asked, below.
      if (!gateway.isSuspended(call.storeKey)) {
        keys.add(call.storeKey);
      }
    }
    Map<StoreKey, CompletionStage<ReadReply>> replies = new HashMap<>();
    try {
      List<CompletionStage<ReadReply>> all =
          keys.isEmpty() ? List.of() : gateway.store().readAll(keys);
      for (int i = 0; i < keys.size(); i++) {
        replies.put(keys.get(i), all.get(i));
      }
    } catch (RuntimeException e) {
      keys.forEach(key -> replies.put(key, CompletableFuture.failedFuture(e)));
    }
    for (Call<K, V> call : calls) {
      CompletionStage<ReadReply> stage =
          replies.getOrDefault(
              call.storeKey,
              CompletableFuture.failedFuture(new StoreException("not sent", null, false)));
      gateway.ask(
          config.name(),
          "MGET",
          call.storeKey,
          () -> stage,
          (@Nullable ReadReply reply, @Nullable StoreException error) -> {
            if (reply instanceof ReadReply.Missing) {
              onMissing(List.of(call));
            } else {
              call.execute(() -> onRead(call, reply, error));
            }
          },
          null);
    }
  }

  private boolean isMissKnown(StoreKey key) {
    Flight<K, V> flight = flights.get(key);
    return flight != null && flight.isMissKnown();
  }

  /**
   * Goes through calls for one key again, after what they shared turned out to be too old or of no
   * use. Those who need not read first go together, so that one load serves them all.
   */
  void startOver(List<Call<K, V>> calls) {
    List<Call<K, V>> together = new ArrayList<>();
    for (Call<K, V> call : calls) {
      call.spare = null;
      call.beforeFill = false;
      if (engine.isClosed()) {
        call.fail(closed(call));
      } else if (call.forced || call.storeFailed || call.broken != null) {
        together.add(call);
      } else {
        reads.read(call);
      }
    }
    if (!together.isEmpty()) {
      enter(together, false);
    }
  }

  private static PaddockClosedException closed(Call<?, ?> call) {
    return new PaddockClosedException("closed: can't read " + call.storeKey);
  }

  private void loadDirectly(Call<K, V> call, Loader<K, V> loader) {
    LoadRun<K, V> run =
        new LoadRun<>(
            call.key,
            call.storeKey,
            loader,
            null,
            false,
            () -> null,
            kept,
            barriers != null,
            ended -> {
              Throwable failure = ended.failure();
              if (failure == null) {
                call.answer(loaded(ended.value()));
              } else if (ended.failedByInterrupt() && call.blocks()) {
                call.fail(
                    new PaddockInterruptedException(
                        "interrupted while loading " + call.storeKey, failure));
              } else {
                call.fail(
                    new LoadFailedException(
                        "loading " + call.storeKey + " failed: " + failure.getClass().getName(),
                        failure,
                        Duration.ZERO));
              }
            });
    if (!call.execute(run::run)) {
      call.fail(closed(call));
    }
  }

  // ---------------------------------------------------------------- reading

  private void onRead(Call<K, V> call, @Nullable ReadReply reply, @Nullable StoreException error) {
    if (reply instanceof ReadReply.Found found) {
      useRead(call, found.entry());
    } else if (reply instanceof ReadReply.Unreadable unreadable) {
      emitUnreadable(call.storeKey, unreadable.reason());
      miss(call);
    } else if (call.loader == null) {
      call.fail(
          error != null
              ? error
              : new StoreException("reading " + call.storeKey + " failed", null, false));
    } else {
      call.storeFailed = true;
      if (!serveOutageValue(call)) {
        enter(call);
      }
    }
  }

  /**
   * Answers a call that the store has failed with what this process has loaded a moment ago.
   *
   * @return false if that is nothing
   */
  boolean serveOutageValue(Call<K, V> call) {
    Lookup<V> answer =
        call.refresh || !call.options.isStaleAllowed() ? null : outageValues.get(call.storeKey);
    if (answer == null) {
      return false;
    }
    if (events.on()) {
      events.emit(new CacheEvent.OutageServed(config.name(), call.storeKey.toString()));
    }
    call.answer(answer);
    return true;
  }

  /** Keeps what the store could not take. */
  void keepForOutage(LoadRun<K, V> run, @Nullable Call<K, V> by) {
    if (!run.isSkipped()) {
      outageValues.put(run.storeKey(), loaded(run.value()), ttl(run, by).softMillis());
    }
  }

  /** Gives a caller whose load was refused what there is. */
  void onLoadRefused(Call<K, V> call) {
    if (!serveSpare(call) && !fellBack(call)) {
      emitDegraded(call, CacheEvent.Degraded.How.FAILED);
      call.fail(
          new TooManyLoadsException(
              "as many loads run and wait as may, so none was begun for "
                  + call.storeKey
                  + ": try again later, raise maxConcurrentLoads or maxQueuedLoads, allow stale"
                  + " values, or give the cache a fallback"));
    }
  }

  /** Sends those who would load on together; not in their context, where only loading has to be. */
  private void onMissing(List<Call<K, V>> calls) {
    List<Call<K, V>> loading = new ArrayList<>(calls.size());
    for (Call<K, V> call : calls) {
      if (call.isGone()) {
        continue;
      }
      emitMiss(call);
      if (call.loader == null) {
        call.answer(missing());
      } else {
        loading.add(call);
      }
    }
    if (!loading.isEmpty()) {
      enter(loading, true);
    }
  }

  private void emitMiss(Call<K, V> call) {
    if (events.on()) {
      events.emit(new CacheEvent.Miss(config.name(), call.storeKey.toString()));
    }
  }

  private void miss(Call<K, V> call) {
    emitMiss(call);
    if (call.loader == null) {
      call.answerHere(missing());
    } else {
      enter(call);
    }
  }

  private void useRead(Call<K, V> call, StoredEntry entry) {
    String mismatch = mismatch(entry);
    if (mismatch != null) {
      replaceBroken(call, entry, mismatch);
      return;
    }
    int[] tagStamps = tagStamps(entry);
    if (stopsAtBarrier(call, entry, () -> useRead(call, entry))) {
      return;
    }
    long now = gateway.store().nowMillis(call.storeKey);
    if (now < entry.softExpiryMillis()) {
      Loader<K, V> loader = call.loader;
      boolean due = early.isOn() && loader != null && early.isDue(entry, now, engine.randomUnit());
      if (hit(call, entry, tagStamps) && due) {
        refreshInBackground(call, entry);
      }
    } else if (acceptsStale(call, entry)) {
      Loader<K, V> loader = call.loader;
      if (serveStale(call, entry, now) && loader != null) {
        refreshInBackground(call, null);
      }
    } else {
      call.spare = spare(call, entry);
      miss(call);
    }
  }

  private int @Nullable [] tagStamps(StoredEntry entry) {
    return near == null ? null : near.tagStamps(entry.tags());
  }

  /**
   * Judges an entry by the barriers of its tags. Where they say no, or are not known well enough,
   * the call goes on elsewhere.
   *
   * @param again what is to be done once they are known
   */
  private boolean stopsAtBarrier(Call<K, V> call, StoredEntry entry, Runnable again) {
    Barriers by = barriers;
    if (by == null) {
      return false;
    }
    watch.start();
    Barriers.Verdict verdict = verdict(by, call, entry);
    if (verdict == Barriers.Verdict.OUTDATED) {
      if (events.on()) {
        events.emit(new CacheEvent.Outdated(config.name(), call.storeKey.toString()));
      }
      call.broken = entry;
      miss(call);
    } else if (verdict == Barriers.Verdict.UNKNOWN) {
      by.learn(
          entry.tags(),
          error ->
              call.execute(
                  () -> {
                    if (error == null) {
                      call.barred = entry;
                      again.run();
                    } else {
                      onRead(call, null, error);
                    }
                  }));
    }
    return verdict != Barriers.Verdict.GOOD;
  }

  /** Whether the barriers of an entry are known well enough, and let it pass. */
  boolean isGood(Call<K, V> call, StoredEntry entry) {
    return barriers == null || verdict(barriers, call, entry) == Barriers.Verdict.GOOD;
  }

  private Barriers.Verdict verdict(Barriers by, Call<K, V> call, StoredEntry entry) {
    if (call.barred == entry) {
      return by.isOutdated(entry) ? Barriers.Verdict.OUTDATED : Barriers.Verdict.GOOD;
    }
    return by.judge(entry, call.startNanos);
  }

  /**
   * Answers with a fresh entry; false if it can't be decoded.
   *
   * @param tagStamps the near cache's, from before the entry was judged
   */
  private boolean hit(Call<K, V> call, StoredEntry entry, int @Nullable [] tagStamps) {
    Lookup<V> answer;
    if (entry.negative()) {
      answer = new Lookup<>(Lookup.State.ABSENT, null, false);
    } else {
      V value = decoded(call, entry);
      if (value == null) {
        return false;
      }
      answer = new Lookup<>(Lookup.State.PRESENT, value, false);
    }
    emitHit(call, entry.negative());
    if (near != null) {
      watch.start();
      near.put(
          call.key,
          call.storeKey,
          answer,
          entry.softExpiryMillis() - gateway.store().nowMillis(call.storeKey),
          call.startNanos,
          call.nearStamp,
          tagStamps);
    }
    call.answerHere(answer);
    return true;
  }

  private void emitHit(Call<K, V> call, boolean negative) {
    if (events.on()) {
      events.emit(new CacheEvent.Hit(config.name(), call.storeKey.toString(), negative));
    }
  }

  private boolean serveStale(Call<K, V> call, StoredEntry entry, long nowMillis) {
    V value = decoded(call, entry);
    if (value == null) {
      return false;
    }
    if (events.on()) {
      events.emit(
          new CacheEvent.StaleServed(
              config.name(),
              call.storeKey.toString(),
              Duration.ofMillis(Math.max(0, nowMillis - entry.softExpiryMillis()))));
    }
    call.answerHere(new Lookup<>(Lookup.State.PRESENT, value, true));
    return true;
  }

  /** Decodes for a caller. If that fails the caller goes on to have the entry replaced. */
  private @Nullable V decoded(Call<K, V> call, StoredEntry entry) {
    try {
      return coder.decode(entry);
    } catch (RuntimeException e) {
      replaceBroken(call, entry, "the codec refused the payload: " + e.getClass().getName());
      return null;
    }
  }

  private @Nullable String mismatch(StoredEntry entry) {
    return entry.schemaVersion() == coder.schemaVersion()
        ? null
        : "it has schema version "
            + entry.schemaVersion()
            + ", this process uses "
            + coder.schemaVersion();
  }

  private void replaceBroken(Call<K, V> call, StoredEntry entry, String reason) {
    emitUnreadable(call.storeKey, reason);
    call.broken = entry;
    miss(call);
  }

  private void emitUnreadable(StoreKey key, String reason) {
    if (events.on()) {
      events.emit(new CacheEvent.Unreadable(config.name(), key.toString(), reason));
    }
  }

  /** Whether a stale entry answers a call at once. */
  boolean acceptsStale(Call<K, V> call, StoredEntry entry) {
    return softTimeoutNanos == NO_TIMEOUT && isUsableStale(call, entry, staleMillis);
  }

  /** The stale entry, if it may answer the call should its load fail or take too long. */
  @Nullable StoredEntry spare(Call<K, V> call, @Nullable StoredEntry entry) {
    return entry != null && isUsableStale(call, entry, keptMillis) ? entry : null;
  }

  private boolean isUsableStale(Call<K, V> call, StoredEntry entry, long windowMillis) {
    return call.options.isStaleAllowed()
        && !call.refresh
        && windowMillis > 0
        && !entry.negative()
        && mismatch(entry) == null
        && isGood(call, entry)
        && gateway.store().nowMillis(call.storeKey) < entry.softExpiryMillis() + windowMillis;
  }

  /**
   * Answers a call with the stale value that was kept for it, instead of a failure.
   *
   * @return false if there is none
   */
  boolean serveSpare(Call<K, V> call) {
    StoredEntry entry = spare(call, call.spare);
    if (entry == null) {
      return false;
    }
    call.spare = null;
    emitDegraded(call, CacheEvent.Degraded.How.STALE);
    call.execute(() -> useStale(call, entry));
    return true;
  }

  /** Uses an entry that came with the answer to an acquire, which took it for fresh. */
  void useAcquired(Call<K, V> call, @Nullable StoredEntry entry) {
    if (entry == null) {
      emitUnreadable(call.storeKey, "the store took it for a value, this process can't read it");
      call.forced = true;
      miss(call);
      return;
    }
    String mismatch = mismatch(entry);
    if (mismatch != null) {
      replaceBroken(call, entry, mismatch);
      return;
    }
    int[] tagStamps = tagStamps(entry);
    if (!stopsAtBarrier(call, entry, () -> useAcquired(call, entry))) {
      hit(call, entry, tagStamps);
    }
  }

  /** Uses a stale entry that the caller accepts; the refresh is under way already. */
  void useStale(Call<K, V> call, StoredEntry entry) {
    if (entry.negative()) {
      call.answerHere(new Lookup<>(Lookup.State.ABSENT, null, true));
    } else {
      serveStale(call, entry, gateway.store().nowMillis(call.storeKey));
    }
  }

  /** The stale value for a loader to look at; null if it can't be used. */
  @Nullable V decodeStale(StoredEntry entry) {
    if (entry.negative()
        || mismatch(entry) != null
        || (barriers != null && barriers.isOutdated(entry))) {
      return null;
    }
    try {
      return coder.decode(entry);
    } catch (RuntimeException e) {
      // It is about to be replaced anyway.
      return null;
    }
  }

  Lookup<V> loaded(@Nullable V value) {
    return value == null
        ? new Lookup<>(Lookup.State.ABSENT, null, false)
        : new Lookup<>(Lookup.State.PRESENT, value, false);
  }

  private Lookup<V> missing() {
    return new Lookup<>(Lookup.State.MISSING, null, false);
  }

  // ---------------------------------------------------------------- flights

  private void enter(Call<K, V> call) {
    enter(List.of(call), false);
  }

  /**
   * Lets calls for one key share its flight.
   *
   * @param missing whether a look has just found nothing
   */
  private void enter(List<Call<K, V>> calls, boolean missing) {
    Call<K, V> first = calls.get(0);
    Flight<K, V> running = flights.get(first.storeKey);
    if (running == null) {
      Flight<K, V> flight = newFlight(first, null, null, false);
      if (missing) {
        flight.knowMiss();
      }
      running = flights.putIfAbsent(first.storeKey, flight);
      if (running == null) {
        engine.register(flight);
        flight.begin(calls);
        return;
      }
    }
    calls.forEach(running::join);
  }

  /**
   * Starts a flight that nobody waits for.
   *
   * @param fresh the value that is refreshed before it has expired; null if it has
   */
  private void refreshInBackground(Call<K, V> call, @Nullable StoredEntry fresh) {
    if (flights.containsKey(call.storeKey)) {
      return;
    }
    Loader<K, V> loader = call.backgroundLoader();
    Flight<K, V> flight = newFlight(call, loader, fresh, false);
    if (flights.putIfAbsent(call.storeKey, flight) == null) {
      engine.register(flight);
      flight.begin(List.of());
    } else if (loader instanceof BulkLoad<K, V> together) {
      together.decided(call.storeKey);
    }
  }

  private Flight<K, V> newFlight(
      Call<K, V> call,
      @Nullable Loader<K, V> background,
      @Nullable StoredEntry early,
      boolean degraded) {
    return new Flight<>(engine.nextFlightId(), this, call, background, early, degraded);
  }

  void remove(StoreKey key, Flight<K, V> flight) {
    flights.remove(key, flight);
  }

  /** Keeps new callers from sharing what is being loaded now. */
  private void detach(StoreKey key) {
    outageValues.remove(key);
    if (near != null) {
      near.changed(key);
    }
    Flight<K, V> flight = flights.get(key);
    if (flight != null && flights.remove(key, flight)) {
      flight.detached();
    }
  }

  /** This process has stored a value, and would be the last to use it. */
  void replaced(StoreKey key) {
    if (near != null) {
      near.changed(key);
    }
  }

  /** Tells that a value is being refreshed before it has expired. */
  void refreshedEarly(StoreKey key, StoredEntry entry) {
    early.begun(key.toString(), entry, gateway.store().nowMillis(key));
  }

  /** Gives a caller whose own load goes on for too long what there is. */
  void onHardTimeout(Call<K, V> call, Duration retryAfter) {
    if (!serveSpare(call) && !fellBack(call)) {
      emitDegraded(call, CacheEvent.Degraded.How.FAILED);
      call.fail(
          new FillTimeoutException(
              "the load of "
                  + call.storeKey
                  + " takes longer than hardLoadTimeout = "
                  + config.hardLoadTimeout()
                  + " and goes on in the background: try again later, raise it, keep values with"
                  + " failSafeFor, or give the cache a fallback",
              retryAfter));
    }
  }

  /** Gives a caller for whom waiting did not help what its options say. */
  void degrade(Call<K, V> call, Duration retryAfter, boolean inLine) {
    if (serveSpare(call)) {
      return;
    }
    if (inLine) {
      if (!fellBack(call)) {
        emitDegraded(call, CacheEvent.Degraded.How.FAILED);
        call.fail(
            new FillTimeoutException(
                "waited "
                    + call.options.maxWait()
                    + " for a place to load "
                    + call.storeKey
                    + ", for as many loads run as may: try again later, raise maxConcurrentLoads or"
                    + " maxWait, allow stale values, or give the cache a fallback",
                retryAfter));
      }
      return;
    }
    if (call.options.otherwise() instanceof Otherwise.LoadDegraded<K, V>) {
      Flight<K, V> flight = newFlight(call, null, null, true);
      engine.register(flight);
      flight.begin(List.of(call));
    } else if (!fellBack(call)) {
      failTimedOut(call, retryAfter);
    }
  }

  void failTimedOut(Call<K, V> call, Duration retryAfter) {
    emitDegraded(call, CacheEvent.Degraded.How.FAILED);
    call.fail(
        new FillTimeoutException(
            "waited "
                + call.options.maxWait()
                + " for "
                + call.storeKey
                + ", which another caller or process is still loading: try again later, raise"
                + " maxWait, allow stale values, or give the cache a fallback",
            retryAfter));
  }

  void onCoolDown(Call<K, V> call, Duration left) {
    if (!serveSpare(call) && !fellBack(call)) {
      emitDegraded(call, CacheEvent.Degraded.How.FAILED);
      call.fail(
          new LoadFailedException(
              "a load of "
                  + call.storeKey
                  + " failed a moment ago; nobody loads it before the cool-down is over",
              null,
              left));
    }
  }

  private boolean fellBack(Call<K, V> call) {
    if (!(call.options.otherwise() instanceof Otherwise.UseFallback<K, V> fallback)) {
      return false;
    }
    emitDegraded(call, CacheEvent.Degraded.How.FALLBACK);
    call.execute(
        () -> {
          try {
            call.answerHere(loaded(fallback.function().apply(call.key)));
          } catch (RuntimeException | Error e) {
            call.fail(e);
          }
        });
    return true;
  }

  private void emitDegraded(Call<K, V> call, CacheEvent.Degraded.How how) {
    if (events.on()) {
      events.emit(new CacheEvent.Degraded(config.name(), call.storeKey.toString(), how));
    }
  }

  // ---------------------------------------------------------------- storing

  /** Soft and hard TTL of one value, jitter applied. */
  record Ttl(long softMillis, long hardMillis) {}

  /**
   * Makes the payload of what was loaded.
   *
   * @return why it must not be stored, for an event; null if it is to be stored, or is not because
   *     the loader, the lease or the settings say so
   */
  @Nullable String encode(LoadRun<K, V> run) {
    if (!run.isStorable()) {
      return null;
    }
    V value = run.value();
    if (value == null) {
      if (!config.negativeTimeToLive().isZero() || run.ownTimeToLive() != null) {
        run.payload = EntryCoder.Payload.absent();
      }
      return null;
    }
    try {
      run.payload = coder.encode(value);
    } catch (CodecException e) {
      run.failWith(e);
      return null;
    }
    return run.payload == null
        ? "the value is larger than maxValueBytes = " + config.maxValueBytes()
        : null;
  }

  Ttl ttl(LoadRun<K, V> run, @Nullable Call<K, V> by) {
    Duration own = run.ownTimeToLive();
    if (own == null && by != null && run.value() != null) {
      own = by.options.timeToLive();
    }
    Duration window = run.ownStaleWindow();
    return ttl(
        own, run.value() == null, window == null ? keptMillis : Limits.millisRoundedUp(window));
  }

  /**
   * Shortens a TTL by a random part.
   *
   * @param jitter the largest part, 0 to 0.5
   * @param random uniform in [0, 1)
   */
  static long jittered(long millis, double jitter, double random) {
    return Math.max(1, (long) ((double) millis * (1 - jitter * random)));
  }

  private Ttl ttl(@Nullable Duration own, boolean negative, long windowMillis) {
    Duration base =
        own != null ? own : negative ? config.negativeTimeToLive() : config.timeToLive();
    long soft = jittered(Limits.millisRoundedUp(base), config.jitter(), engine.randomUnit());
    long hard = negative ? soft : soft + windowMillis;
    // A barrier has to outlive the values that it outdates.
    return new Ttl(soft, barriers == null ? hard : Math.min(hard, barriers.retentionMillis()));
  }

  /**
   * The tags of what a load has brought.
   *
   * @param options those of the call that it is stored for
   * @param stale what it replaces
   */
  List<String> tags(LoadRun<K, V> run, CallOptions<K, V> options, @Nullable StoredEntry stale) {
    if (barriers == null) {
      return List.of();
    }
    List<String> own = run.tags();
    if (own.isEmpty() && run.isUnchanged() && stale != null) {
      own = stale.tags();
    }
    Set<String> all = new LinkedHashSet<>(own);
    all.addAll(options.tags());
    return List.copyOf(all);
  }

  /** Whether values can have tags. */
  boolean hasTags() {
    return barriers != null;
  }

  /** When a load counts as begun, see {@link Barriers#startOf}. */
  long startOf(List<String> tags, long earliestMillis, long nanos) {
    return barriers == null ? earliestMillis : barriers.startOf(tags, earliestMillis, nanos);
  }

  /** Whether callers that came while a value was loaded may share it, as far as barriers go. */
  boolean mayShare(List<String> tags, long loadStartMillis) {
    return barriers == null || barriers.mayShare(tags, loadStartMillis);
  }

  @Override
  public void put(K key, @Nullable V value, CallOptions<K, V> options) {
    await(putAsync(key, value, options), "storing");
  }

  @Override
  public CompletableFuture<@Nullable Void> putAsync(
      K key, @Nullable V value, CallOptions<K, V> options) {
    checkTags(options);
    StoreKey storeKey = storeKey(key);
    if (value == null && options.timeToLive() == null && config.negativeTimeToLive().isZero()) {
      return invalidateAsync(key);
    }
    EntryCoder.Payload payload = value == null ? EntryCoder.Payload.absent() : coder.encode(value);
    if (payload == null) {
      throw new IllegalArgumentException(
          "the value for "
              + storeKey
              + " is larger than maxValueBytes = "
              + config.maxValueBytes()
              + ": raise it, or store less");
    }
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    if (engine.isClosed()) {
      done.completeExceptionally(new PaddockClosedException("closed: can't store " + storeKey));
      return done;
    }
    Ttl ttl = ttl(options.timeToLive(), value == null, keptMillis);
    long now = gateway.store().nowMillis(storeKey);
    StoredEntry entry =
        new StoredEntry(
            payload.negative,
            payload.compressed,
            now + ttl.softMillis(),
            startOf(
                options.tags(), gateway.store().earliestMillis(storeKey), engine.env().nanoTime()),
            0,
            StoredEntry.NO_EPOCH,
            0,
            coder.schemaVersion(),
            options.tags(),
            payload.bytes);
    detach(storeKey);
    gateway.call(
        config.name(),
        "PUT",
        storeKey,
        () -> gateway.store().put(storeKey, entry, ttl.hardMillis(), gateway.timeoutMillis()),
        (@Nullable PutOutcome outcome, @Nullable StoreException error) -> {
          detach(storeKey);
          if (outcome == PutOutcome.STORED) {
            complete(done, null);
          } else {
            // Whatever is there now, it is not what the caller wanted: better nothing.
            clearAfterFailedPut(storeKey, done, outcome, error);
          }
        });
    return done;
  }

  private void clearAfterFailedPut(
      StoreKey key,
      CompletableFuture<@Nullable Void> done,
      @Nullable PutOutcome outcome,
      @Nullable StoreException error) {
    gateway.call(
        config.name(),
        "INVALIDATE",
        key,
        () -> gateway.store().invalidate(key, holdOffMillis),
        (nothing, failed) -> {
          detach(key);
          String what =
              error != null
                  ? error.getMessage()
                  : outcome == PutOutcome.REFUSED
                      ? "the store refused the write; it may be out of memory"
                      : "the write reached the store too late";
          complete(
              done,
              new StoreException(
                  "storing "
                      + key
                      + " failed: "
                      + what
                      + "; the key "
                      + (failed == null
                          ? "was invalidated instead"
                          : "could not be invalidated either: call invalidate again"),
                  error,
                  failed != null && error != null && error.mayHaveHappened()));
        });
  }

  @Override
  public void invalidate(K key) {
    await(invalidateAsync(key), "invalidating");
  }

  @Override
  public CompletableFuture<@Nullable Void> invalidateAsync(K key) {
    StoreKey storeKey = storeKey(key);
    return outdate(
        storeKey, "INVALIDATE", true, () -> gateway.store().invalidate(storeKey, holdOffMillis));
  }

  @Override
  public void invalidateAll(Collection<? extends K> keys) {
    await(invalidateAllAsync(keys), "invalidating");
  }

  @Override
  public CompletableFuture<@Nullable Void> invalidateAllAsync(Collection<? extends K> keys) {
    Set<StoreKey> distinct = new LinkedHashSet<>();
    keys.forEach(key -> distinct.add(storeKey(key)));
    return new BulkInvalidation(
            config.name(),
            List.copyOf(distinct),
            config.maxBulkSize(),
            key ->
                outdate(
                    key, "INVALIDATE", true, () -> gateway.store().invalidate(key, holdOffMillis)))
        .begin();
  }

  @Override
  public void invalidateTag(String tag) {
    await(invalidateTagAsync(tag), "invalidating");
  }

  @Override
  public CompletableFuture<@Nullable Void> invalidateTagAsync(String tag) {
    return raise(Barriers.labelOf(Limits.tag(tag)), tag, "invalidateTag");
  }

  @Override
  public void clear() {
    await(clearAsync(), "clearing");
  }

  @Override
  public CompletableFuture<@Nullable Void> clearAsync() {
    return raise(Barriers.ALL, null, "clear");
  }

  private CompletableFuture<@Nullable Void> raise(
      String label, @Nullable String tag, String method) {
    Barriers by = barriers;
    if (by == null) {
      throw untagged(method);
    }
    BarrierRequest request = by.request(label);
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    if (engine.isClosed()) {
      done.completeExceptionally(
          new PaddockClosedException("closed: can't invalidate " + request.key()));
      return done;
    }
    long sentNanos = engine.env().nanoTime();
    gateway.call(
        config.name(),
        "RAISE",
        request.key(),
        () -> gateway.store().raiseBarrier(request),
        (@Nullable Long millis, @Nullable StoreException error) -> {
          if (millis != null) {
            by.tell(label, millis, sentNanos);
          }
          outageValues.clear();
          // After the barrier is known, so that what is kept from here on was judged by it.
          if (near != null) {
            near.raised(label);
          }
          if (error == null && events.on()) {
            events.emit(
                new CacheEvent.TagInvalidated(config.name(), request.key().toString(), tag));
          }
          if (error == null) {
            completeSettled(done);
            return;
          }
          complete(
              done,
              new StoreException(
                  method
                      + (tag == null ? "" : " of " + tag)
                      + " of cache "
                      + name()
                      + (error.mayHaveHappened() ? " may not have happened: " : " did not happen: ")
                      + error.getMessage()
                      + "; call it again",
                  error,
                  error.mayHaveHappened()));
        });
    return done;
  }

  /** Once what begins from now on counts as younger than the barrier, see {@link Barriers}. */
  private void completeSettled(CompletableFuture<@Nullable Void> done) {
    try {
      engine.env().schedule(() -> complete(done, null), Barriers.SETTLING_NANOS);
    } catch (RejectedExecutionException e) {
      // Closing: nothing is loaded any more.
      complete(done, null);
    }
  }

  @Override
  public void expire(K key) {
    await(expireAsync(key), "expiring");
  }

  @Override
  public CompletableFuture<@Nullable Void> expireAsync(K key) {
    StoreKey storeKey = storeKey(key);
    return outdate(
        storeKey, "EXPIRE", false, () -> gateway.store().expire(storeKey, holdOffMillis));
  }

  private CompletableFuture<@Nullable Void> outdate(
      StoreKey key, String operation, boolean hard, Supplier<CompletionStage<Void>> send) {
    CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
    if (engine.isClosed()) {
      done.completeExceptionally(new PaddockClosedException("closed: can't invalidate " + key));
      return done;
    }
    detach(key);
    gateway.call(
        config.name(),
        operation,
        key,
        send,
        (nothing, error) -> {
          detach(key);
          if (error == null && events.on()) {
            events.emit(new CacheEvent.Invalidated(config.name(), key.toString(), hard));
          }
          complete(
              done,
              error == null
                  ? null
                  : new StoreException(
                      (hard ? "invalidating " : "expiring ")
                          + key
                          + (error.mayHaveHappened()
                              ? " may not have happened: "
                              : " did not happen: ")
                          + error.getMessage()
                          + "; call it again",
                      error,
                      error.mayHaveHappened()));
        });
    return done;
  }

  /** Completes a user's future on the executor, so that its dependents never hold up the store. */
  private void complete(CompletableFuture<@Nullable Void> done, @Nullable RuntimeException error) {
    Runnable completion =
        error == null ? () -> done.complete(null) : () -> done.completeExceptionally(error);
    if (!engine.execute(completion)) {
      completion.run();
    }
  }

  private static void await(CompletableFuture<@Nullable Void> done, String doing) {
    try {
      done.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PaddockInterruptedException(
          "interrupted while " + doing + "; it may have happened", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreException cause) {
        // Thrown anew, so that the trace shows the caller.
        StoreException anew =
            new StoreException(
                String.valueOf(cause.getMessage()), cause.getCause(), cause.mayHaveHappened());
        for (Throwable further : cause.getSuppressed()) {
          anew.addSuppressed(further);
        }
        throw anew;
      }
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    }
  }
}
